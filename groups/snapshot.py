"""The snapshot file: the known state of a cluster's groups at one moment, as YAML or JSON (docs/decisions/0004)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from groups.files import replace_file
from groups.model import Cluster, Group, GroupState, GroupType, Problem, Topic, usual_protocol
from groups.offset_lines import READERS, WRITERS, texts_of
from groups.trees import UNWRITTEN, Faulty, Malformed, Trees, Unknown, dotted, path_to, shown
from groups.trees import Path as TreePath
from groups.yaml_files import TreeError, check_kind, check_newest, line_of, load_tree, read_text, yaml_lines
from wire.files import MEBIBYTE

MOST_BYTES = 512 * MEBIBYTE  # maximum size of a snapshot, and of a file of topics
_FIRST_VERSION = 1
FORMAT_VERSION = 2  # with offsets in lines; it grows only when an older Kohort would misread the file


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFault:
    """Why a group or a topic of a file cannot be used. A topic with wrong racks only is used without them."""

    group: str | None = None
    topic: str | None = None
    error: TreeError


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    cluster: Cluster = field(default_factory=Cluster)
    topics: Mapping[str, Topic] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    notices: tuple[Problem, ...] = field(default=(), metadata=UNWRITTEN)  # unknown fields, skipped
    faults: tuple[SnapshotFault, ...] = field(default=(), metadata=UNWRITTEN, compare=False)  # unread


def read_snapshot(file: Path) -> Snapshot:
    """Read a snapshot, except `faults`. TreeError: no readable one, newer, or without a readable group or topic."""
    return parse_snapshot(file, read_text(file, most=MOST_BYTES))


def parse_snapshot(file: Path, text: str) -> Snapshot:
    """Like read_snapshot, from text; `file` is only used in messages."""
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
            racks = Malformed(wrong, "topics", topic.name, "racks")
            faults.append(SnapshotFault(topic=topic.name, error=TreeError.at(file, text, racks)))
    paths = [(*path_to(tree, mapping), name) for mapping, name in unknown]
    notices = tuple(
        Problem(subject=f"{file}:{line_of(text, path)}", message=f"{dotted(path)}: unknown field, not read")
        for path in paths
    )
    return replace(snapshot, notices=notices, faults=tuple(faults))


def _fault(file: Path, text: str, tree: dict[str, Any], path: TreePath, error: Malformed) -> SnapshotFault:
    """The fault for an error in the mapping at `path`; an error in a member is reported with the member's id."""
    error.path = (*path, *error.path)
    section, name, *inside = error.path
    match inside:
        case ["members", int() as position, *_]:
            member = tree["groups"][name]["members"][position]
            error.message += (
                f" (member {shown(member['id'])})" if isinstance(member, dict) and "id" in member else ""
            )
    located = TreeError.at(file, text, error)
    return (
        SnapshotFault(group=str(name), error=located)
        if section == "groups"
        else SnapshotFault(topic=str(name), error=located)
    )


def wrong_racks(topic: Topic) -> str | None:
    """Why the racks of a topic cannot be used: they must be listed for all partitions or for none."""
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
    return topic if wrong_racks(topic) is None else replace(topic, racks=None)


def snapshot_from_tree(
    tree: Mapping[str, Any], unknown: Unknown | None = None, faulty: Faulty | None = None
) -> Snapshot:
    """Of a file's tree with its version; see Trees.read. Malformed: a wrong value, or a newer Kohort's file."""
    check_newest(tree, FORMAT_VERSION)
    snapshot: Snapshot = TREES.read(Snapshot, tree, unknown, faulty)
    return snapshot


def write_snapshot(snapshot: Snapshot, file: Path) -> None:
    """Write YAML, or JSON if the name ends in `.json`; the old file remains until the new one is complete."""
    replace_file(file, snapshot_parts(snapshot, as_json=file.suffix.lower() == ".json"))


def snapshot_text(snapshot: Snapshot, *, as_json: bool = False) -> str:
    return "".join(snapshot_parts(snapshot, as_json=as_json))


def snapshot_parts(snapshot: Snapshot, *, as_json: bool = False) -> Iterator[str]:
    """The text of a file in parts. Each topic and group is converted when its part is read: to a line of JSON, or lines
    of YAML."""
    of_topics = (commits for group in snapshot.groups.values() for commits in (group.offsets or {}).values())
    version = FORMAT_VERSION if any(map(texts_of, of_topics)) else _FIRST_VERSION
    head = {"kohort": version, "cluster": _FILE_TREES.write(Cluster, snapshot.cluster)}
    yield json.dumps(head, ensure_ascii=False)[:-1] if as_json else "".join(yaml_lines(head))
    for name, entries in _sections(snapshot, _FILE_TREES):
        yield from _json_section(name, entries) if as_json else _yaml_section(name, entries)
    if as_json:
        yield "}\n"


def _json_section(name: str, entries: Iterator[tuple[str, object]]) -> Iterator[str]:
    yield f', "{name}": {{'
    for at, (key, tree) in enumerate(entries):
        yield f"{',' if at else ''}\n{json.dumps({key: tree}, ensure_ascii=False)[1:-1]}"
    yield "}"


def _yaml_section(name: str, entries: Iterator[tuple[str, object]]) -> Iterator[str]:
    lines = yaml_lines(entries, depth=1)
    first = next(lines, None)
    yield f"{name}: {{}}\n" if first is None else f"{name}:\n{first}"
    yield from lines


def snapshot_tree(snapshot: Snapshot) -> dict[str, Any]:
    """In the first version of the format."""
    sections = {name: dict(entries) for name, entries in _sections(snapshot, TREES)}
    return {"kohort": _FIRST_VERSION, "cluster": TREES.write(Cluster, snapshot.cluster), **sections}


def _sections(snapshot: Snapshot, trees: Trees) -> Iterator[tuple[str, Iterator[tuple[str, object]]]]:
    topics, groups = snapshot.topics, snapshot.groups
    yield "topics", ((name, trees.write(Topic, topics[name])) for name in sorted(topics))
    yield "groups", ((name, _group_tree(groups[name], trees)) for name in sorted(groups))


def _group_tree(group: Group, trees: Trees) -> object:
    tree = trees.write(Group, group)
    usual = usual_protocol(group.type)
    for member, written in zip(group.members, tree["members"], strict=True):
        if member.protocol is usual:
            written.pop("protocol", None)
        elif member.protocol is None:
            written["protocol"] = None  # left out, it would be the usual one
    return tree


def _imply_usual(group: dict[str, object]) -> None:
    """Add the usual type, state and member protocol to a group if the file does not contain them."""
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
                f"the member id {member.id!r} is listed twice; give each member its own", "members", position
            )
        seen.add(member.id)


TREES = Trees(
    sparse=True,
    extra={Snapshot: ("kohort",)},
    implied={Group: _imply_usual},
    checks={Group: _check_members},
    readers=READERS,
)
_FILE_TREES = Trees(sparse=True, writers=WRITERS)
