"""The commands that a screen runs or names: a view shows what `kohort describe` prints, a change what its command
previews, so that there is one code, one text and one consent for both."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cli.options import SourceOptions
from cli.verbs.top.options import option_words
from cli.verbs.why.options import HistoryOptions
from groups.model import TopicPartition
from groups.times import format_moment

KOHORT = (sys.executable, "-P", "-c", "from cli.app import main; main()")  # -P: nothing is imported from here

VIEWS = {
    name: kind
    for kind, names in {
        "GROUP": ("describe", "diagnose", "why", "plan", "dry-run", "what-if", "config get", "peek"),
        "FILE": ("gate", "rehearse", "migrate"),
        "": (
            "list",
            "lag",
            "validate-regex",
            "config list",
            "journal",
            "features list",
            "context list",
            "context show",
            "help",
            "version",
        ),
    }.items()
    for name in names
}
CHANGES = {
    **dict.fromkeys(("offsets reset", "offsets delete", "delete", "members remove"), "GROUP"),
    **dict.fromkeys(("config set", "config unset"), "GROUP"),
    **dict.fromkeys(("offsets clone",), ""),
    **dict.fromkeys(("offsets import", "apply"), "FILE"),
    **dict.fromkeys(("features set", "undo"), ""),
}
"""Commands that can be run from a screen, with the kind of their first argument."""

CONSENT = ("--execute", "--yes", "-y", "--confirm")
SOURCE = (
    *("--bootstrap-server", "-b", "--command-config", "--snapshot", "--embedded", "--log-dir", "--as-of"),
    *("--topics", "--context", "--all-contexts", "--compare"),
)
WRITING = ("--svg", "--output-dir", "--raw", "--raw-key", "--out")
ENDLESS = ("--watch",)


@dataclass(frozen=True, slots=True, kw_only=True)
class KohortCommand:
    """A command of Kohort, as words after `kohort`."""

    words: tuple[str, ...]
    is_change: bool = False  # Whether it takes --execute

    @property
    def text(self) -> str:
        """To be pasted into a shell."""
        return shlex.join(["kohort", *self.words])

    def with_options(self, *options: str) -> "KohortCommand":
        """Before a `--`, after which words are arguments."""
        end = self.words.index("--") if "--" in self.words else len(self.words)
        return replace(self, words=(*self.words[:end], *options, *self.words[end:]))

    def with_source(self, source: SourceOptions) -> "KohortCommand":
        return self.with_options(*source_words(source))

    def executed(self) -> "KohortCommand":
        """It shows the change, and asks: the answer is consent, as on any terminal."""
        return self.with_options("--execute")


def source_words(source: SourceOptions) -> list[str]:
    """The options that name the source of this screen, for another command."""
    context = None if source.place is None else source.place.name
    if context is None:
        return option_words(source)
    # By its name: its properties may be secret.
    return option_words(
        SourceOptions(
            context=context,
            as_of=source.as_of,
            topics_file=source.topics_file,
            timeout_ms=source.timeout_ms,
        )
    )


AROUND_MS = 5 * 60_000  # What is shown before and after a moment of the past
OF_ANY_TIME = ("why", "journal")
NEWEST_LAST = ("journal",)  # Commands whose last lines are looked for first
OF_NO_SOURCE = ("help", "version", "context list", "context show")


def located(
    command: KohortCommand, source: SourceOptions, files: HistoryOptions, past_ms: int | None = None
) -> KohortCommand:
    """The command about what is on screen: its source, a file with the past of groups, or a moment of a log. Raises
    ValueError: the command shows only the present, or cannot read the file."""
    name = name_of(command.words) or ""
    file = files.journal or files.replay
    if name in OF_NO_SOURCE:
        return command
    if file is not None:
        if name != "why":
            raise ValueError(
                f"kohort {name} cannot read {file}: w shows what happened; X opens another source"
            )
        return command.with_options("--journal" if files.journal else "--replay", str(file))
    if past_ms is not None and source.log_dirs:
        source = replace(source, as_of=format_moment(past_ms))
    elif past_ms is not None and not command.is_change and name not in OF_ANY_TIME:
        raise ValueError(
            f"kohort {name} is about the present: l returns to it; w shows what the group was here"
        )
    return command.with_source(source)


def about(name: str, group: str, *options: str) -> tuple[str, ...]:
    """The words of a command about a group, whose id may begin with a hyphen."""
    words = name.split()
    return (*words, *options, "--", group) if group.startswith("-") else (*words, group, *options)


def view(name: str, group: str, *options: str) -> KohortCommand:
    return KohortCommand(words=about(name, group, *options))


def change(name: str, group: str, *options: str) -> KohortCommand:
    return KohortCommand(words=about(name, group, *options), is_change=True)


def next_record(group: str, partition: TopicPartition) -> KohortCommand:
    topic, number = partition
    return KohortCommand(
        words=("peek", *(["--"] if group.startswith("-") else []), group, f"{topic}:{number}")
    )


UNDO = KohortCommand(words=("undo",), is_change=True)


def journal(group: str | None) -> KohortCommand:
    """The changes of a group, or of all."""
    return KohortCommand(words=("journal", *(() if group is None else (f"--group={group}",))))


def why(group: str, past_ms: int | None, now_ms: int) -> KohortCommand:
    """What happened in the last hour; in the past, around the moment shown."""
    if past_ms is None:
        return view("why", group, "--since", "1h")
    begin, end = format_moment(past_ms - AROUND_MS), format_moment(min(past_ms + AROUND_MS, now_ms))
    return view("why", group, "--since", begin, "--until", end)


def name_of(words: Sequence[str]) -> str | None:
    """The name of the command that words begin with, if it can be run from a screen."""
    return next((name for count in (2, 1) if (name := " ".join(words[:count])) in VIEWS | CHANGES), None)


def command_of(typed: Sequence[str], group: str | None, *, is_read_only: bool = False) -> KohortCommand:
    """The command that these words mean, about the group on screen if they name none. ValueError: it is not one that
    can be run here, or contains its own consent, which is asked for below the preview."""
    words = list(typed[1:] if typed[:1] == ["kohort"] else typed)
    name = name_of(words)
    if name is None:
        raise ValueError(f"{' '.join(words[:2])} is neither a screen nor a command that can be run here")
    count = len(name.split())
    rest = words[count:]
    options = rest[: rest.index("--")] if "--" in rest else rest
    if option := _first(options, CONSENT):
        raise ValueError(f"leave {option} out: you are asked below the preview")
    if option := _first(options, SOURCE):
        raise ValueError(f"leave {option} out: commands are about what is on screen; X switches the context")
    if option := _first(options, ENDLESS):
        raise ValueError(f"leave {option} out: r runs the command again")
    if is_read_only and (option := _first(options, WRITING)):
        raise ValueError(f"{option} writes a file, and --read-only is given")
    if name == "gate" and is_read_only and "--no-notes" not in options:
        rest = ["--no-notes", *rest]
    if (VIEWS | CHANGES)[name] == "GROUP" and group is not None and not _has_argument(rest):
        return KohortCommand(words=about(name, group, *rest), is_change=name in CHANGES)
    return KohortCommand(words=(*words[:count], *rest), is_change=name in CHANGES)


def _has_argument(rest: Sequence[str]) -> bool:
    """Whether a group is named or selected: options with values are not known here, so an argument comes first."""
    return bool(rest) and (not rest[0].startswith("-") or "--" in rest or bool(_first(rest, SELECTING)))


SELECTING = ("--match", "--all-groups", "--type", "--state", "--protocol", "--unused-for")


def _first(words: Sequence[str], options: Sequence[str]) -> str | None:
    """The first of these options among words, also with its value attached: `--svg=FILE`, `-bHOST`."""
    short = tuple(option for option in options if not option.startswith("--"))
    return next(
        (
            word
            for word in words
            if word.split("=")[0] in options or (word[:2] in short and not word.startswith("--"))
        ),
        None,
    )
