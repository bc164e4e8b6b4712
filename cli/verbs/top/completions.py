"""Completions of the line that `:` opens: screens and what they are about, commands and their options, as a shell gets
them; names of groups, topics and members are those that are on screen already, so that nothing is read."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from typer._click.core import Context

from cli.errors import is_expected
from cli.verbs.completion import values
from cli.verbs.completion.answer import complete
from cli.verbs.top.sight import Sight
from cli.verbs.top.words import CHANGES, CONSENT, ENDLESS, SOURCE, VIEWS

MOST = 200

SUBJECTS = {
    "groups": (),
    "group": ("GROUP",),
    "member": ("GROUP", "MEMBER"),
    "topic": ("TOPIC",),
    "partition": ("GROUP", "TOPIC", "PARTITION"),
    "topics": (),
    "cluster": (),
    "contexts": (),
    "plan": ("GROUP", "FILE"),
    "keys": (),
}
"""What the screens are about, by name; a group that is not named is the one on screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What can be named: the facts on screen, and the group that it is about."""

    sight: Sight
    group: str | None = None
    has_files: bool = True  # Whether those of this machine may be named

    def names(self, kind: str, before: Sequence[str]) -> Iterable[str]:
        """The names of a kind; `before` are those that come before it on the line: a group, a topic."""
        group = self.sight.groups.get(before[0] if before else self.group or "")
        if kind == "GROUP":
            return self.sight.listings
        if kind == "MEMBER":
            return (
                [member.id for member in group.polled.group.members] if group and group.polled.group else []
            )
        if kind == "PARTITION":
            rows = group.polled.rows() if group else ()
            return [str(row.partition) for row in rows if row.topic == before[-1]]
        if kind == "TOPIC":
            groups = [group] if group and before else self.sight.groups.values()
            return dict.fromkeys(row.topic for seen in groups for row in seen.polled.rows())
        return ()


def completions(text: str, known: Known) -> list[str]:
    """Whole lines that this one may become, the likeliest first; none if it ends with an open quote."""
    try:
        words = shlex.split(text)
    except ValueError:
        return []
    current = words.pop() if words and not text[-1:].isspace() else ""
    begin = text.rstrip() if not current else text[: len(text) - _length(text, current)]
    begin += " " if begin and not begin[-1].isspace() else ""
    return [begin + word for word in _words(words, current, known) if word != current][:MOST]


def _length(text: str, current: str) -> int:
    """The length of the last word as it was typed, with its quotes."""
    return next(size for size in range(len(current), len(text) + 1) if _is_word(text, size, current))


def _is_word(text: str, size: int, word: str) -> bool:
    try:
        return shlex.split(text[len(text) - size :]) == [word] and text[: len(text) - size][-1:] in ("", " ")
    except ValueError:
        return False


def _words(words: Sequence[str], current: str, known: Known) -> list[str]:
    """The words that the last one may become, quoted where the line needs it."""
    if not words:
        commands = dict.fromkeys(name.partition(" ")[0] for name in (*VIEWS, *CHANGES))
        return _matching(current, [*SUBJECTS, *(name for name in commands if name not in SUBJECTS)])
    has_options = any(word.startswith("-") for word in (*words, current))
    if words[0] in SUBJECTS and not (words[0] == "plan" and has_options):
        return _subjects(words[0], words[1:], current, known)
    seconds = [name.partition(" ")[2] for name in (*VIEWS, *CHANGES) if name.partition(" ")[0] == words[0]]
    if len(words) == 1 and any(seconds):
        return _matching(current, seconds)
    return _of_command(words, current, known)


def _matching(current: str, names: Iterable[str], *, ending: str = " ") -> list[str]:
    """Those that begin with it, then those that contain it."""
    sought = current.casefold()
    alike = [name for name in names if sought in name.casefold()]
    alike.sort(key=lambda name: not name.casefold().startswith(sought))
    return [shlex.quote(name) + ending for name in alike[:MOST]]


def _subjects(screen: str, before: Sequence[str], current: str, known: Known) -> list[str]:
    kinds = SUBJECTS[screen]
    if len(before) >= len(kinds):
        return []
    kind, is_last = kinds[len(before)], len(before) + 1 == len(kinds)
    if kind == "FILE":
        return _files(current) if known.has_files else []
    return _matching(current, known.names(kind, before), ending="" if is_last else " ")


def _of_command(words: Sequence[str], current: str, known: Known) -> list[str]:
    from cli.app import app

    def names_of(listed: values.Values, context: Context) -> values.Described:
        if not listed.of_source:
            return listed.names(context)
        kinds = {values.GROUPS.names: "GROUP", values.TOPICS.names: "TOPIC", values.MEMBERS.names: "MEMBER"}
        group = context.params.get("group") or next(iter(context.params.get("groups") or ()), known.group)
        kind = kinds.get(listed.names, "MEMBER" if context.command_path.endswith("remove") else "")
        return [(name, "") for name in known.names(kind, [group] if kind == "MEMBER" and group else [])]

    try:
        prefix, (kind, items) = complete(app, ["kohort", *words], current, names_of)
    except Exception as error:
        if not is_expected(error):
            raise
        return []  # As of a file of contexts that cannot be read: the command itself reports it
    if kind in ("files", "directories"):
        return _files(current) if known.has_files else []
    refused = {*CONSENT, *SOURCE, *ENDLESS, "--help", "-h"}
    ending = "" if kind == "more" else " "
    return [shlex.quote(prefix + item.value) + ending for item in items if item.value not in refused]


def _files(current: str) -> list[str]:
    folder, _, begin = current.rpartition("/")
    directory = Path(f"{folder}/" if folder or current.startswith("/") else ".")
    try:
        paths = sorted(path for path in directory.iterdir() if path.name.startswith(begin))
    except OSError:
        return []
    shown = [path for path in paths if begin.startswith(".") or not path.name.startswith(".")]
    head = current[: len(current) - len(begin)]
    return [shlex.quote(f"{head}{path.name}") + ("/" if path.is_dir() else " ") for path in shown[:MOST]]
