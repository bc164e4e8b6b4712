"""The commands that a screen runs or names: a view shows what `kohort describe` prints, a change what its command
previews, so that there is one code, one text and one consent for both."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from cli.options import SourceOptions
from cli.verbs.top.options import option_words

KOHORT = (sys.executable, "-P", "-c", "from cli.app import main; main()")  # -P: nothing is imported from here


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of Kohort, as words after `kohort`."""

    words: tuple[str, ...]
    is_change: bool = False  # Whether it takes --execute

    @property
    def text(self) -> str:
        """To be pasted into a shell."""
        return shlex.join(["kohort", *self.words])

    def with_source(self, source: SourceOptions) -> "Command":
        return Command(words=(*self.words, *source_words(source)), is_change=self.is_change)

    def executed(self, consent: Sequence[str]) -> "Command":
        """`consent`: --yes, or --confirm with the name of a protected context."""
        return Command(words=(*self.words, "--execute", *consent), is_change=True)


def view(*words: str) -> Command:
    return Command(words=words)


def change(*words: str) -> Command:
    return Command(words=words, is_change=True)


VIEWS = frozenset(
    {
        *(
            "list",
            "describe",
            "diagnose",
            "why",
            "validate-regex",
            "dry-run",
            "what-if",
            "plan",
            "gate",
            "rehearse",
        ),
        *("config get", "features list", "context list", "context show", "help", "version"),
    }
)
CHANGES = frozenset(
    {
        *("offsets reset", "offsets import", "offsets clone", "offsets delete"),
        *("delete", "members remove", "config set", "config unset", "features set", "apply"),
    }
)
OF_A_GROUP = (
    (VIEWS | CHANGES)
    - {"list", "features list", "features set", "context list", "context show", "help"}
    - {
        "version",
        "apply",
        "gate",
        "rehearse",
        "validate-regex",
        "offsets import",
        "offsets clone",
    }
)
"""Commands whose first argument is a group: the one on screen, if none is typed."""
CONSENT = ("--execute", "--yes", "-y", "--confirm")


def command_of(words: Sequence[str], group: str | None) -> Command:
    """The command that these words mean, about the group on screen if they name none. ValueError: it is not one that
    can be run here, or contains its own consent, which is asked for below the preview."""
    words = [word for number, word in enumerate(words) if number or word != "kohort"]
    name = next((name for count in (2, 1) if (name := " ".join(words[:count])) in VIEWS | CHANGES), None)
    if name is None:
        raise ValueError(f"{' '.join(words[:2])} is not a screen, nor a command that can be run here")
    if given := next((word for word in words if word.split("=")[0] in CONSENT), None):
        raise ValueError(f"leave {given} out: you are asked below the preview")
    count = len(name.split())
    rest = words[count:]
    if name in OF_A_GROUP and group is not None and not (rest and not rest[0].startswith("-")):
        rest = [group, *rest]
    return Command(words=(*words[:count], *rest), is_change=name in CHANGES)
