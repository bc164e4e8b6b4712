"""Reading a snapshot file: every field is checked, and a wrong one is named with its file and line."""

from __future__ import annotations

import base64
import binascii
import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from uuid import UUID

from groups.model import (
    Client,
    Cluster,
    CommittedOffset,
    Group,
    GroupState,
    GroupType,
    Member,
    MemberProtocol,
    Node,
    Problem,
    Subscription,
    Topic,
    UserData,
    usual_protocol,
)
from groups.snapshot.model import FORMAT_VERSION, Snapshot
from groups.snapshot.tree import SnapshotError, line_of, load_tree
from wire.uuids import parse_uuid

T = TypeVar("T")
MAX_PARTITIONS = 2**31 - 1


def read_snapshot(file: Path) -> Snapshot:
    """Read a snapshot; SnapshotError when it is unreadable, foreign, newer or broken."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SnapshotError(file, None, "", f"not a text file in UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise SnapshotError(file, None, "", f"cannot be read: {error.strerror or error}") from None
    return parse_snapshot(file, text)


def parse_snapshot(file: Path, text: str) -> Snapshot:
    """Like read_snapshot, from text; the file is only named."""
    source = _Source(file, text, [])
    root = _At(source, (), load_tree(file, text))
    if not isinstance(root.value, dict) or "kohort" not in root.value:
        raise SnapshotError(file, 1, "kohort", "missing: this is not a Kohort snapshot")
    version = root.field("kohort").integer(1)
    if version > FORMAT_VERSION:
        root.field("kohort").fail(
            f"format {version} is newer than this Kohort reads ({FORMAT_VERSION}); upgrade Kohort"
        )
    fields = root.fields("kohort", "cluster", "topics", "groups")
    cluster = fields["cluster"].optional(_cluster) or Cluster()
    topics = {name: _topic(name, at) for name, at in fields["topics"].entries()}
    groups = {name: _group(name, at) for name, at in fields["groups"].entries()}
    return Snapshot(cluster=cluster, topics=topics, groups=groups, notices=tuple(source.notices))


@dataclass(frozen=True, slots=True)
class _Source:
    file: Path
    text: str
    notices: list[Problem]


@dataclass(frozen=True, slots=True)
class _At:
    """A value and the path that leads to it."""

    source: _Source
    path: tuple[str | int, ...]
    value: Any

    def fail(self, message: str) -> NoReturn:
        line = line_of(self.source.text, self.path)
        raise SnapshotError(self.source.file, line, _dotted(self.path), message) from None

    def field(self, name: str | int) -> _At:
        return _At(self.source, (*self.path, name), self.value[name])

    def fields(self, *known: str) -> dict[str, _At]:
        """The known fields of a mapping, absent ones as None; an unknown one is a notice, a typo an error."""
        value = self.value
        if not isinstance(value, dict):
            self.fail(f"expected a mapping with {', '.join(known)}, found {_kind(value)}")
        for name in value.keys() - set(known):
            self._unknown(name, known)
        return {name: _At(self.source, (*self.path, name), value.get(name)) for name in known}

    def _unknown(self, name: str, known: tuple[str, ...]) -> None:
        at = self.field(name)
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
        if near and near[0] not in self.value:
            at.fail(f"unknown field; is {near[0]!r} meant?")
        line = line_of(self.source.text, at.path)
        self.source.notices.append(
            Problem(
                subject=f"{self.source.file}:{line}", message=f"{_dotted(at.path)}: unknown field, not read"
            )
        )

    def entries(self) -> Iterator[tuple[str, _At]]:
        """The entries of a mapping with names for keys; nothing when it is absent."""
        if self.value is None:
            return
        if not isinstance(self.value, dict):
            self.fail(f"expected a mapping, found {_kind(self.value)}")
        for name in self.value:
            yield name, self.field(name)

    def numbered(self) -> Iterator[tuple[int, _At]]:
        """The entries of a mapping with partition numbers for keys."""
        for name, at in self.entries():
            try:
                number = int(name)
            except ValueError:
                number = -1
            if not 0 <= number <= MAX_PARTITIONS:
                at.fail(f"expected a partition number, found {_shown(name)}")
            yield number, at

    def items(self) -> list[_At]:
        if not isinstance(self.value, list):
            self.fail(f"expected a list, found {_kind(self.value)}")
        return [self.field(i) for i in range(len(self.value))]

    def optional(self, read: Callable[[_At], T]) -> T | None:
        return None if self.value is None else read(self)

    def text(self) -> str:
        if isinstance(self.value, bool) or not isinstance(self.value, str | int):
            self.fail(f"expected a text, found {_kind(self.value)}")
        return str(self.value)

    def texts(self) -> tuple[str, ...]:
        if type(self.value) is list and {type(text) for text in self.value} == {str}:
            return tuple(self.value)
        return tuple(at.text() for at in self.items())

    def integer(self, least: int, most: int = 2**63 - 1) -> int:
        try:
            if isinstance(self.value, bool | float):
                raise ValueError
            number = int(self.value)
        except (ValueError, TypeError):
            self.fail(f"expected a whole number, found {_shown(self.value)}")
        if not least <= number <= most:
            self.fail(f"{number} is out of range ({least} to {most})")
        return number

    def flag(self) -> bool:
        if self.value is not True and self.value is not False and self.value not in ("true", "false"):
            self.fail(f"expected true or false, found {_shown(self.value)}")
        return self.value in (True, "true")

    def one_of(self, parse: Callable[[str], T]) -> T:
        try:
            return parse(self.text())
        except ValueError as error:
            self.fail(str(error))

    def base64(self) -> bytes:
        try:
            return base64.b64decode(self.text(), validate=True)
        except (binascii.Error, ValueError):
            self.fail(f"expected base64, found {_shown(self.value)}")

    def partitions(self) -> dict[str, tuple[int, ...]]:
        """Topic → partition numbers, made ascending."""
        if not isinstance(self.value, dict):
            self.fail(f"expected a mapping, found {_kind(self.value)}")
        return {
            name: _quick_numbers(value) or self.field(name).partition_numbers()
            for name, value in self.value.items()
        }

    def partition_numbers(self) -> tuple[int, ...]:
        if not isinstance(self.value, list):
            self.fail(f"expected a list of partition numbers, found {_kind(self.value)}")
        numbers = sorted(at.integer(0, MAX_PARTITIONS) for at in self.items())
        if len(set(numbers)) != len(numbers):
            self.fail("a partition stands here twice")
        return tuple(numbers)


def _quick_numbers(value: Any) -> tuple[int, ...] | None:
    """Partition numbers, ascending, when there are some and all is well: what most of a large file is."""
    if type(value) is not list or not {type(number) for number in value} <= {int, str}:
        return None
    try:
        numbers = sorted(map(int, value))
    except ValueError:
        return None
    good = numbers and numbers[0] >= 0 and numbers[-1] <= MAX_PARTITIONS and len(set(numbers)) == len(numbers)
    return tuple(numbers) if good else None


def _cluster(at: _At) -> Cluster:
    fields = at.fields("id", "kafka", "features", "consumer_protocol", "settings", "settings_differ")
    settings = fields["settings"].optional(lambda at: {name: value.text() for name, value in at.entries()})
    return Cluster(
        id=fields["id"].optional(_At.text),
        kafka=fields["kafka"].optional(_At.text),
        features={name: value.integer(0, 32767) for name, value in fields["features"].entries()},
        consumer_protocol=fields["consumer_protocol"].optional(_At.flag),
        settings=settings,
        settings_differ={name: value.texts() for name, value in fields["settings_differ"].entries()},
    )


def _topic(name: str, at: _At) -> Topic:
    fields = at.fields("id", "partitions", "racks", "end_offsets")
    if fields["partitions"].value is None:
        at.fail("the field 'partitions', the number of partitions, is missing")
    ends = fields["end_offsets"]
    racks = fields["racks"]
    return Topic(
        name=name,
        partitions=fields["partitions"].integer(0, MAX_PARTITIONS),
        id=fields["id"].optional(_uuid),
        racks=racks.optional(lambda at: {p: value.texts() for p, value in at.numbered()}),
        end_offsets=ends.optional(
            lambda at: {p: value.optional(lambda end: end.integer(0)) for p, value in at.numbered()}
        ),
    )


def _uuid(at: _At) -> UUID:
    return at.one_of(parse_uuid)


def _group(name: str, at: _At) -> Group:
    fields = at.fields(
        "type", "state", "protocol_type", "protocol", "coordinator", "generation", "leader",
        "group_epoch", "assignment_epoch", "members", "offsets",
    )  # fmt: skip
    group_type = fields["type"].optional(lambda at: at.one_of(GroupType.parse)) or GroupType.CLASSIC
    members = tuple(_member(member, group_type) for member in fields["members"].optional(_At.items) or ())
    ids = [member.id for member in members]
    for position, member in enumerate(ids):
        if member in ids[:position]:
            fields["members"].field(position).fail(f"the member id {member!r} stands here twice")
    state = fields["state"].optional(lambda at: at.one_of(GroupState.parse)) or GroupState.UNKNOWN
    return Group(
        id=name,
        type=group_type,
        state=state,
        protocol_type=fields["protocol_type"].optional(_At.text),
        protocol=fields["protocol"].optional(_At.text),
        coordinator=fields["coordinator"].optional(_node),
        generation=fields["generation"].optional(lambda at: at.integer(-1, 2**31 - 1)),
        leader=fields["leader"].optional(_At.text),
        group_epoch=fields["group_epoch"].optional(lambda at: at.integer(0, 2**31 - 1)),
        assignment_epoch=fields["assignment_epoch"].optional(lambda at: at.integer(0, 2**31 - 1)),
        members=members,
        offsets=fields["offsets"].optional(_offsets),
    )


def _node(at: _At) -> Node:
    fields = at.fields("id", "host", "port", "rack")
    return Node(
        id=fields["id"].integer(-1),
        host=fields["host"].text(),
        port=fields["port"].integer(-1, 65535),
        rack=fields["rack"].optional(_At.text),
    )


def _member(at: _At, group_type: GroupType) -> Member:
    fields = at.fields(
        "id", "instance", "client", "rack", "protocol", "protocols", "subscription", "owned", "generation",
        "target", "epoch", "user_data", "unreadable",
    )  # fmt: skip
    if fields["id"].value is None:
        at.fail("the field 'id' is missing")
    protocol = fields["protocol"].optional(lambda at: at.one_of(_member_protocol))
    if "protocol" not in at.value:
        protocol = usual_protocol(group_type)
    return Member(
        id=fields["id"].text(),
        instance=fields["instance"].optional(_At.text),
        client=fields["client"].optional(_client) or Client(),
        rack=fields["rack"].optional(_At.text),
        protocol=protocol,
        protocols=fields["protocols"].optional(_At.texts),
        subscription=fields["subscription"].optional(_subscription),
        owned=fields["owned"].optional(_At.partitions),
        target=fields["target"].optional(_At.partitions),
        epoch=fields["epoch"].optional(lambda at: at.integer(-2, 2**31 - 1)),
        generation=fields["generation"].optional(lambda at: at.integer(-1, 2**31 - 1)),
        user_data=fields["user_data"].optional(_user_data),
        unreadable=fields["unreadable"].optional(_At.text),
    )


def _member_protocol(text: str) -> MemberProtocol:
    try:
        return MemberProtocol("classic" if text.lower() == "generic" else text.lower())
    except ValueError:
        raise ValueError(f"expected classic or consumer, found {text!r}") from None


def _client(at: _At) -> Client:
    fields = at.fields("id", "host", "library", "version")
    return Client(**{name: value.optional(_At.text) for name, value in fields.items()})


def _subscription(at: _At) -> Subscription:
    fields = at.fields("topics", "regex")
    topics = fields["topics"].optional(_At.texts) or ()
    return Subscription(topics=topics, regex=fields["regex"].optional(_At.text))


def _user_data(at: _At) -> UserData:
    fields = at.fields("subscription", "assignment")
    return UserData(
        subscription=fields["subscription"].optional(_At.base64) or b"",
        assignment=fields["assignment"].optional(_At.base64) or b"",
    )


def _offsets(at: _At) -> dict[str, dict[int, CommittedOffset]]:
    return {
        topic: {partition: _offset(value) for partition, value in partitions.numbered()}
        for topic, partitions in at.entries()
    }


def _offset(at: _At) -> CommittedOffset:
    fields = at.fields("offset", "leader_epoch", "metadata", "timestamp", "lag")
    return CommittedOffset(
        offset=fields["offset"].optional(lambda at: at.integer(-(2**63))),
        leader_epoch=fields["leader_epoch"].optional(lambda at: at.integer(-1, 2**31 - 1)),
        metadata=fields["metadata"].optional(_At.text),
        timestamp=fields["timestamp"].optional(lambda at: at.integer(-1)),
        lag=fields["lag"].optional(lambda at: at.integer(-1)),
    )


def _dotted(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{_short(step)}" for step in path).lstrip(".")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _kind(value: Any) -> str:
    kinds = {dict: "a mapping", list: "a list", type(None): "nothing", str: "a text"}
    return kinds.get(type(value)) or _shown(value)


def _shown(value: Any) -> str:
    # The text of a mapping or a list may be endless: YAML's aliases put one thing in many places.
    if isinstance(value, dict | list):
        return _kind(value)
    return _short(repr(value))
