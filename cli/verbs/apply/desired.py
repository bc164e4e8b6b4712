"""The file of `kohort apply` (docs/apply.md): the desired state of groups. What it omits stays as it is."""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from cli.errors import UsageError
from groups.model import wrong_topic_name
from groups.offsets.model import TopicScope
from groups.offsets.scenarios import Scenario, ToEarliest, ToLatest, ToOffset, ToTime
from groups.times import read_moment
from groups.trees import INT32, INT64, Malformed, count_values, dotted, shown
from groups.yaml_files import TreeError, check_format, line_of, load_tree, read_text
from wire.suggestion import did_you_mean

S = TypeVar("S")
T = TypeVar("T")
FORMAT = 1
STDIN = Path("-")
_MOST_VALUES = 1_000_000
_WORDS: Mapping[str, Scenario | None] = {"earliest": ToEarliest(), "latest": ToLatest(), "none": None}
_FORMS = "a number, earliest, latest, none or a time such as 2026-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredGroup:
    group: str
    delete: bool = False
    settings: Mapping[str, str | None] = field(default_factory=dict)  # Settings by name; None means unset
    offsets: Mapping[TopicScope, Scenario | None] = field(default_factory=dict)
    """Offsets by whole topic or by partition; None means no committed offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredGroups:
    """The contents of a file."""

    file: Path
    text: str
    groups: tuple[DesiredGroup, ...]

    def place(self, *path: str | int) -> str:
        """The position of a value in the file: `groups.yaml:7: groups.payments.offsets.orders`."""
        line = line_of(self.text, path)
        return f"{self.file}{f':{line}' if line else ''}: {dotted(path)}"

    def error(self, message: str, *path: str | int) -> UsageError:
        return UsageError(str(TreeError.at(self.file, self.text, Malformed(message, *path))))


def read_desired(file: Path) -> DesiredGroups:
    """Read a file, or standard input; UsageError and TreeError name the line and the field."""
    text = read_text(file, sys.stdin.buffer if file == STDIN else None)
    try:
        return DesiredGroups(file=file, text=text, groups=tuple(_groups(load_tree(file, text))))
    except Malformed as error:
        raise UsageError(str(TreeError.at(file, text, error))) from None
    except TreeError as error:
        raise UsageError(str(error)) from None


def _groups(tree: object) -> Iterator[DesiredGroup]:
    check_format(tree, FORMAT, "file of groups to apply")
    if count_values(tree, _MOST_VALUES) >= _MOST_VALUES:
        raise Malformed(f"more than {_MOST_VALUES} values")
    groups = _with_fields(tree, "kohort", "groups").get("groups")
    for group, entry in _mapping(groups, "groups").items():
        if not group:
            raise Malformed("a group needs a name", "groups", group)
        yield _at(partial(_group, group), entry, "groups", group)


def _at(read: Callable[[S], T], tree: S, *path: str | int) -> T:
    """Read from a tree; errors name this path."""
    try:
        return read(tree)
    except Malformed as error:
        for step in reversed(path):
            error.below(step)
        raise


def _mapping(tree: object, *path: str) -> dict[str, object]:
    if not isinstance(tree, dict):
        raise Malformed(f"expected a mapping, found {shown(tree)}", *path)
    return tree


def _with_fields(value: object, *known: str) -> dict[str, object]:
    tree = _mapping(value)
    for name in tree:
        if name not in known:
            hint = did_you_mean(name, known) or f"; known fields: {', '.join(known)}"
            raise Malformed(f"unknown field{hint}", name)
    return tree


def _group(group: str, value: object) -> DesiredGroup:
    tree = _with_fields(value, "settings", "offsets", "delete")
    delete = tree.get("delete", False)
    if not isinstance(delete, bool) and delete not in ("true", "false"):
        raise Malformed(f"expected true or false, found {shown(delete)}", "delete")
    delete = delete in (True, "true")
    if delete:
        for other in ("settings", "offsets"):
            if other in tree:
                raise Malformed(f"a group with delete: true cannot have {other}", other)
    return DesiredGroup(
        group=group,
        delete=delete,
        settings=_at(_settings, tree["settings"], "settings") if "settings" in tree else {},
        offsets=_at(_offsets, tree["offsets"], "offsets") if "offsets" in tree else {},
    )


def _settings(tree: object) -> dict[str, str | None]:
    settings: dict[str, str | None] = {}
    for name, value in _mapping(tree).items():
        if not name:
            raise Malformed("a setting needs a name", name)
        if isinstance(value, dict | list):
            raise Malformed(f"expected a value, found {shown(value)}", name)
        settings[name] = (
            str(value).lower() if isinstance(value, bool) else None if value is None else str(value)
        )
    return settings


def _offsets(tree: object) -> dict[TopicScope, Scenario | None]:
    offsets: dict[TopicScope, Scenario | None] = {}
    for topic, entry in _mapping(tree).items():
        if (wrong := wrong_topic_name(topic)) is not None:
            raise Malformed(wrong if topic else "a topic needs a name", topic)
        if not isinstance(entry, dict):
            offsets[TopicScope(topic)] = _at(_position, entry, topic)
            continue
        for number, value in entry.items():
            scope = TopicScope(topic, (_at(_partition, number, topic, number),))
            if scope in offsets:
                raise Malformed(f"partition {int(number)} is listed twice", topic, number)
            offsets[scope] = _at(_position, value, topic, number)
    return offsets


def _partition(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 11 and int(text) <= INT32:
        return int(text)
    raise Malformed(f"{shown(text)} is not a partition; expected 0 or a positive number")


def _position(value: object) -> Scenario | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Malformed(f"expected {_FORMS}; found {shown(value)}")
    text = str(value).strip()
    if text in _WORDS:
        return _WORDS[text]
    if text.isascii() and text.isdigit():
        if len(text) > 19 or int(text) > INT64:
            raise Malformed(f"{shown(text)} is larger than any offset")
        return ToOffset(int(text))
    hint = did_you_mean(text.lower(), _WORDS)
    if not hint and text[:1].isdigit():
        try:
            return ToTime(read_moment(text, None))
        except ValueError:
            pass
    raise Malformed(f"expected {_FORMS}; found {shown(value)}{hint}")
