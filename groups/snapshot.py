"""The snapshot file: what was known of a cluster's groups at a moment, as YAML or JSON.

Its fields are those of `groups.model`. Unknown values are left out; fields that this Kohort does not know are
passed over and named (docs/decisions/0004).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from groups.model import Cluster, Group, GroupState, GroupType, Problem, Topic, usual_protocol
from groups.trees import UNWRITTEN, Faulty, Malformed, Trees, Unknown, dotted, path_to, shown
from groups.trees import Path as TreePath
from groups.yaml_files import (
    TreeError,
    check_kind,
    check_newest,
    line_of,
    load_tree,
    replace_file,
    yaml_lines,
)

FORMAT_VERSION = 1
"""Raised only when an older Kohort would misread the file; fields may be added without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a group or a topic of a file cannot be used. If only a topic's racks are wrong, the topic is used without
    them."""

    group: str | None = None
    topic: str | None = None
    error: TreeError


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Groups and the topics they read, by name."""

    cluster: Cluster = field(default_factory=Cluster)
    topics: Mapping[str, Topic] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    notices: tuple[Problem, ...] = field(default=(), metadata=UNWRITTEN)
    """Fields that were passed over because this Kohort does not know them."""
    faults: tuple[Fault, ...] = field(default=(), metadata=UNWRITTEN, compare=False)
    """The unreadable parts of a file whose rest was read."""


def read_snapshot(file: Path) -> Snapshot:
    """Read a snapshot, without the groups and topics that cannot be read (`faults`).

    TreeError when it is unreadable, not a snapshot or newer, and when no group and no topic of it can be read.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise TreeError(file, None, "", f"not a text file in UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise TreeError(file, None, "", f"cannot be read: {error.strerror or error}") from None
    return parse_snapshot(file, text)


def parse_snapshot(file: Path, text: str) -> Snapshot:
    """Like read_snapshot, from text; the file is only named."""
    tree, unknown, faulty = load_tree(file, text), Unknown(), Faulty()
    if not isinstance(tree, dict) or "kohort" not in tree:
        raise TreeError(file, 1, "kohort", "missing: this is not a snapshot; `kohort snapshot` writes one")
    try:
        check_kind(tree, "snapshot")
        snapshot = snapshot_from_tree(tree, unknown, faulty)
    except Malformed as error:
        raise TreeError.at(file, text, error) from None
    faults = [_fault(file, text, tree, path_to(tree, mapping), error) for mapping, error in faulty]
    if faults and not (snapshot.groups or snapshot.topics):
        raise faults[0].error
    for topic in snapshot.topics.values():
        wrong = wrong_racks(topic)
        if wrong is not None:
            place = Malformed(wrong, "topics", topic.name, "racks")
            faults.append(Fault(topic=topic.name, error=TreeError.at(file, text, place)))
    paths = [(*path_to(tree, mapping), name) for mapping, name in unknown]
    notices = tuple(
        Problem(subject=f"{file}:{line_of(text, path)}", message=f"{dotted(path)}: unknown field, not read")
        for path in paths
    )
    return replace(snapshot, notices=notices, faults=tuple(faults))


def _fault(file: Path, text: str, tree: dict[str, Any], path: TreePath, error: Malformed) -> Fault:
    """Of the entries of a mapping at a path; a fault in a member is reported with its id."""
    error.path = (*path, *error.path)
    section, name, *inside = error.path
    match inside:
        case ["members", int() as position, *_]:
            member = tree["groups"][name]["members"][position]
            error.message += (
                f" (member {shown(member['id'])})" if isinstance(member, dict) and "id" in member else ""
            )
    found = TreeError.at(file, text, error)
    return Fault(group=str(name), error=found) if section == "groups" else Fault(topic=str(name), error=found)


def wrong_racks(topic: Topic) -> str | None:
    """Why the racks of a topic cannot be used: they are those of every partition, or none is known."""
    if not topic.racks or (len(topic.racks) == topic.partitions and max(topic.racks) < topic.partitions):
        return None
    beyond = max(topic.racks)
    if beyond >= topic.partitions:
        wrong = f"partition {beyond} is listed, and the topic has {topic.partitions} partitions"
    else:
        first = next(number for number in range(topic.partitions) if number not in topic.racks)
        more = topic.partitions - len(topic.racks) - 1
        wrong = f"partition {first} {f'and {more} more are' if more else 'is'} missing"
    return (
        f"{wrong}, so the racks of this topic are not used; list those of all {topic.partitions} partitions, "
        "[] where no replica has a rack, or leave racks out"
    )


def with_usable_racks(topic: Topic) -> Topic:
    """The topic, without racks where they cannot be used."""
    return topic if wrong_racks(topic) is None else replace(topic, racks=None)


def snapshot_from_tree(tree: Any, unknown: Unknown | None = None, faulty: Faulty | None = None) -> Snapshot:
    """The snapshot of a file's tree, which must have its version.

    `groups.trees` says what becomes of unknown fields, and of groups and topics that cannot be read.

    :raises Malformed: a value is not what its field wants, or a newer Kohort wrote it
    """
    check_newest(tree, FORMAT_VERSION)
    snapshot: Snapshot = TREES.read(Snapshot, tree, unknown, faulty)
    return snapshot


def write_snapshot(snapshot: Snapshot, file: Path) -> None:
    """Write YAML, or JSON when the name ends so; the old file stays until the new one is whole."""
    replace_file(file, snapshot_text(snapshot, as_json=file.suffix.lower() == ".json"))


def snapshot_text(snapshot: Snapshot, *, as_json: bool = False) -> str:
    """The file's text."""
    tree = snapshot_tree(snapshot)
    if as_json:
        return json.dumps(tree, ensure_ascii=False, indent=1) + "\n"
    return "".join(yaml_lines(tree))


def snapshot_tree(snapshot: Snapshot) -> dict[str, Any]:
    """The document as plain values; absent means unknown."""
    empty: dict[str, Any] = {"cluster": {}, "topics": {}, "groups": {}}
    tree = {"kohort": FORMAT_VERSION, **empty, **TREES.write(Snapshot, snapshot)}
    for name, group in snapshot.groups.items():
        usual = usual_protocol(group.type)
        for member, written in zip(group.members, tree["groups"][name]["members"], strict=True):
            if member.protocol is usual:
                written.pop("protocol", None)
            elif member.protocol is None:
                written["protocol"] = None  # left out, it would be the usual one
    return tree


def _imply_usual(group: dict[str, Any]) -> None:
    """The type of a group and the protocol of its members, where the file does not contain it."""
    for name, usual in (("type", GroupType.CLASSIC), ("state", GroupState.UNKNOWN)):
        if group.get(name) is None:
            group[name] = usual.value
    try:
        protocol = usual_protocol(GroupType.parse(str(group["type"])))
    except ValueError:
        return
    members = group.get("members")
    if protocol is not None and isinstance(members, list):
        for member in members:
            if isinstance(member, dict):
                member.setdefault("protocol", protocol.value)


def _check_members(group: Group) -> None:
    seen: set[str] = set()
    for position, member in enumerate(group.members):
        if member.id in seen:
            raise Malformed(
                f"the member id {member.id!r} is listed twice; give each member its own",
                "members",
                position,
            )
        seen.add(member.id)


TREES = Trees(
    sparse=True,
    extra={Snapshot: ("kohort",)},
    implied={Group: _imply_usual},
    checks={Group: _check_members},
)
