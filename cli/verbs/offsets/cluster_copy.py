"""`kohort offsets clone` to another cluster: what is read on both sides, and what would be committed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from cli.errors import CommandError, UsageError
from cli.options import TargetClusterOptions
from cli.output import notice
from cli.render.document import Table, columns, fields
from cli.sources.live import LiveSource
from cli.sources.live_answers import READING_RECORDS
from cli.sources.permissions import worded
from cli.sources.positions import positions_of
from cli.sources.source import Source
from cli.sources.writer import ClusterWriter
from cli.times import format_moment
from cli.verbs.offsets.change import OffsetsChange
from cli.verbs.offsets.found import PartitionCounts, committed_original, find_groups
from cli.verbs.offsets.notices import say_what_is_new, say_what_stays
from groups.model import Group, Problem
from groups.offsets.cluster_copy import CopiedOffset, ProvedOffset, TopicNames, plan_cluster_copy
from groups.offsets.model import OffsetChange, Place, Positions, TopicScope, committed_in
from groups.offsets.proof import Proof, TargetLog, Verdict, beside_time, key_record, merged, prove
from groups.offsets.scenarios import name_of
from wire.client.client import KafkaClient
from wire.client.errors import Answers
from wire.client.offsets import OffsetsAtTimes
from wire.client.record_windows import WindowRequest
from wire.log.record_digests import RecordWindow

T = TypeVar("T")
_AROUND = 16
"""Records on each side of an offset that are compared."""
_ANCHORED = 512
"""Records of one time that are read in the source to find one of the target."""
_SEARCHED = 10_000
_MAY_BE_COMPACTED = (Verdict.DIFFERS, Verdict.SAME_TIME, Verdict.MISSING)
_NO_TIMESTAMP = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRequest:
    """What is to be copied, and how hard to look."""

    origin: str
    target: str
    scopes: tuple[TopicScope, ...]
    names: TopicNames
    search: int
    """Records of a partition of the target that are read at most to find the match."""
    unproved: bool
    """Whether offsets that are not proved are set too."""


def check_alone(copy: TargetClusterOptions) -> None:
    """UsageError for options of another cluster where none is named."""
    given = {
        "--topic-prefix": copy.topic_prefix,
        "--map": copy.renamed,
        "--search": copy.search,
        "--unproved": copy.unproved,
    }
    for name, value in given.items():
        if value:
            raise UsageError(
                f"{name} is for another cluster; name it with --to-context or --to-bootstrap-server"
            )


def copy_request(
    origin: str, target: str, scopes: tuple[TopicScope, ...], copy: TargetClusterOptions
) -> CopyRequest:
    """What is asked for; UsageError for a --map that is no pair of topics."""
    renamed: dict[str, str] = {}
    for pair in copy.renamed or ():
        topic, equals, there = (part.strip() for part in pair.partition("="))
        if not equals or not topic or not there or "=" in there:
            raise UsageError(f"--map {pair!r} is not SOURCE=TARGET, such as orders=us-west.orders")
        if renamed.setdefault(topic, there) != there:
            raise UsageError(f"--map gives {topic} two names: {renamed[topic]} and {there}")
    return CopyRequest(
        origin=origin,
        target=target,
        scopes=scopes,
        names=TopicNames(prefix=copy.topic_prefix or "", renamed=renamed),
        search=copy.search or _SEARCHED,
        unproved=copy.unproved,
    )


def plan_cluster_clone(
    source: Source, target: Source, request: CopyRequest, writer: ClusterWriter | None
) -> ClusterCopy:
    """What would be committed in the target for the offsets that a group has committed in the source.

    :raises UsageError: the records of one of the two cannot be read :raises CommandError: there is nothing to copy
    """
    reader, copies = _records_of(source), _records_of(target)
    clusters = [client.metadata([]) for client in (reader, copies)]
    ids = [cluster.cluster_id for cluster in clusters]
    shared = {broker.address for broker in clusters[0].brokers}.intersection(
        broker.address for broker in clusters[1].brokers
    )
    # Clusters that were made from the same disks have the same id.
    if ids[0] == ids[1] and shared and request.origin == request.target and request.names == TopicNames():
        raise UsageError(f"{source.name} and {target.name} are the same cluster, and it is the same group")
    original = committed_original(source, request.origin)
    found = find_groups(target, [request.target], named=True)
    wanted = committed_in(request.scopes, original.offsets or {})
    if not wanted:
        raise CommandError(f"{request.origin}: has committed nothing in these topics")
    for first, second, copy in request.names.collisions(topic for topic, _ in wanted):
        raise UsageError(f"{first} and {second} would both be {copy} in {target.name}; name them with --map")
    for topic in sorted(request.names.renamed.keys() - {topic for topic, _ in wanted}):
        notice(f"--map {topic}: {request.origin} has committed nothing there")
    pairs = _Pairs(originals=PartitionCounts(source), copies=PartitionCounts(target), names=request.names)
    pairs.find(wanted, request.target)
    copied = _Copying(source, target, reader, copies, request).prove(original, pairs.places)
    plans = tuple(
        plan_cluster_copy(
            original,
            group,
            copied.proved,
            request.names,
            copied.positions,
            unproved=request.unproved,
            refused=pairs.refused,
            **found.facts(group, (*pairs.missing, *copied.problems)),
        )
        for group in found.groups
    )
    say_what_is_new(plans)
    say_what_stays(found.groups, {request.names.in_target(place) for place in pairs.places})
    return ClusterCopy(
        command="offsets clone",
        plans=plans,
        problems=(*found.others, *pairs.problems),
        facts={"from": request.origin, "source_cluster": ids[0], "target_cluster": ids[1]},
        writer=writer,
    )


def _records_of(source: Source) -> KafkaClient:
    """A client that reads records."""
    if not isinstance(source, LiveSource):
        raise UsageError(
            f"{source.name} holds no records to compare, so offsets cannot be copied to or from another cluster "
            "there; name live clusters (--bootstrap-server, --context)"
        )
    if source.client is None:
        raise UsageError(
            f"the records of {source.name} cannot be read: that needs a login that librdkafka alone knows "
            f"(sasl.mechanism={source.settings.sasl_mechanism})"
        )
    return source.client


@dataclass(slots=True, kw_only=True)
class _Pairs:
    """The partitions of both clusters."""

    originals: PartitionCounts
    copies: PartitionCounts
    names: TopicNames
    places: Sequence[Place] = ()
    """Those that exist on both sides, of topics that have as many partitions on both."""
    missing: tuple[Problem, ...] = ()
    refused: tuple[Problem, ...] = ()

    def find(self, wanted: Iterable[Place], group: str) -> None:
        """Sort partitions out."""
        places, missing = self.originals.existing(wanted)
        there, absent = self.copies.existing(map(self.names.in_target, places))
        unequal = [
            topic
            for topic in dict.fromkeys(topic for topic, _ in places)
            if None not in (counts := self._counts(topic)) and len(set(counts)) > 1
        ]
        self.places = [
            place for place in places if self.names.in_target(place) in there and place[0] not in unequal
        ]
        self.missing = (
            *missing,
            *(
                Problem(subject=f"{each.subject} in the target", message=each.message)
                for each in absent
                if not each.subject.startswith(tuple(f"{topic}-" for topic in unequal))
            ),
        )
        self.refused = tuple(self._unequal(topic, group) for topic in unequal)

    def _counts(self, topic: str) -> tuple[int | None, int | None]:
        copy, _ = self.names.in_target((topic, 0))
        return self.originals.count(topic), self.copies.count(copy)

    def _unequal(self, topic: str, group: str) -> Problem:
        here, there = self._counts(topic)
        message = (
            f"{here} partitions in the source and {there} in the target: records with the same key may be in another "
            "partition; reset this topic by time instead (offsets reset --to-datetime)"
        )
        return Problem(subject=f"{group}, {self.names.in_target((topic, 0))[0]}", message=message)

    @property
    def problems(self) -> tuple[Problem, ...]:
        return (*self.originals.problems, *self.copies.problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copied:
    """Every partition is either proved in some way, or has a problem."""

    proved: Mapping[Place, ProvedOffset]
    positions: Positions
    """The target's."""
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class _Copying:
    """Reads the records around each offset on both sides, and compares them."""

    source: Source
    target: Source
    originals: KafkaClient
    copies: KafkaClient
    request: CopyRequest

    def prove(self, original: Group, places: Sequence[Place]) -> _Copied:
        """Where the offsets of a group in these partitions are in the target."""
        in_target, problems = self.request.names.in_target, _Problems(original.id)
        begins = positions_of(self.source, places, None)
        ends = positions_of(self.target, [in_target(place) for place in places], None)
        offsets = _usable(original, places, (begins, ends), in_target, problems)
        around = problems.kept(
            self.originals.record_windows(
                {
                    place: WindowRequest(offset=offset, before=_AROUND, after=_AROUND)
                    for place, offset in offsets.items()
                }
            ),
            "in the source",
        )
        logs = self._logs(offsets, around, ends, problems)
        proofs = self._proofs(offsets, around, logs, problems)
        return _Copied(
            proved={
                place: ProvedOffset(
                    proof=proof,
                    time_ms=_time_of(around[place]),
                    lost=max(begins.earliest[place] - offsets[place], 0),
                )
                for place, proof in sorted(proofs.items())
            },
            positions=ends,
            problems=problems.all,
        )

    def _logs(
        self,
        offsets: Mapping[Place, int],
        around: Mapping[Place, RecordWindow],
        ends: Positions,
        problems: _Problems,
    ) -> dict[Place, TargetLog]:
        """The logs of the target, with where the records' times lead to."""
        in_target = self.request.names.in_target
        times = {
            in_target(place): time_ms
            for place, window in around.items()
            if (time_ms := _time_of(window)) is not None
        }
        at_time = problems.kept(self.copies.offsets_at(times, [OffsetsAtTimes(times)]), "in the target")
        return {
            place: TargetLog(
                earliest=ends.earliest[copy],
                end=ends.end[copy],
                # Without a time there is nothing to go by but the offset itself.
                at_time=at_time[copy][0] if copy in times else min(offsets[place], ends.end[copy]),
            )
            for place in around
            if (copy := in_target(place)) not in times or copy in at_time
        }

    def _proofs(
        self,
        offsets: Mapping[Place, int],
        around: Mapping[Place, RecordWindow],
        logs: Mapping[Place, TargetLog],
        problems: _Problems,
    ) -> dict[Place, Proof]:
        """A few records of the target are enough for most; of the others as many are read as the request allows."""
        proofs: dict[Place, Proof] = {}
        windows: dict[Place, RecordWindow] = {}
        pending = list(logs)
        for depth in (2 * _AROUND, self.request.search):
            starts = {
                place: logs[place].end if logs[place].at_time < 0 else logs[place].at_time
                for place in pending
            }
            windows |= self._target_windows(starts, around, depth, problems)
            pending = [place for place in pending if place in windows]
            for place in pending:
                proofs[place] = prove(around[place], windows[place], logs[place], offset=offsets[place])
            unsure = [place for place in pending if proofs[place].verdict is not Verdict.PROVED]
            pending = [place for place in unsure if not _is_searched(around[place], windows[place])]
        unsure = [place for place, proof in proofs.items() if proof.verdict in _MAY_BE_COMPACTED]
        wider = self._wider({place: around[place] for place in unsure}, windows, logs, offsets)
        for place, window in wider.items():
            proof = prove(window, windows[place], logs[place], offset=offsets[place], is_whole=False)
            if proof.verdict is Verdict.PROVED:
                proofs[place] = proof
        return proofs

    def _target_windows(
        self,
        starts: Mapping[Place, int],
        around: Mapping[Place, RecordWindow],
        depth: int,
        problems: _Problems,
    ) -> dict[Place, RecordWindow]:
        """Records of the target by partition of the source, `depth` of them from the starts on.

        As many before them where a broker set the time in the source, which is later than the producer's.
        """
        copies = {self.request.names.in_target(place): place for place in starts}
        requests = {
            copy: WindowRequest(
                offset=starts[place], before=depth if _is_late(around[place]) else _AROUND, after=depth
            )
            for copy, place in copies.items()
        }
        found = problems.kept(self.copies.record_windows(requests), "in the target")
        return {copies[copy]: window for copy, window in found.items()}

    def _wider(
        self,
        around: Mapping[Place, RecordWindow],
        windows: Mapping[Place, RecordWindow],
        logs: Mapping[Place, TargetLog],
        offsets: Mapping[Place, int],
    ) -> dict[Place, RecordWindow]:
        """With the source's records of the times next to the place in the target, where compaction left gaps."""
        wider = dict(around)
        for side in (0, 1):
            beside = {place: beside_time(windows[place], logs[place])[side] for place in around}
            times = {place: record.timestamp_ms for place, record in beside.items() if record is not None}
            starts = self.originals.offsets_at(times, [OffsetsAtTimes(times)]).found
            requests = {
                place: WindowRequest(offset=start, before=_AROUND, after=_ANCHORED)
                for place, (start,) in starts.items()
                if start >= 0
            }
            for place, window in self.originals.record_windows(requests).found.items():
                wider[place] = merged(wider[place], [window], offsets[place])
        return wider


def _time_of(window: RecordWindow) -> int | None:
    key = key_record(window)
    return None if key is None or key.timestamp_ms == _NO_TIMESTAMP else key.timestamp_ms


def _is_late(window: RecordWindow) -> bool:
    """Whether the time that leads to the target may be later than that of the copy."""
    key = key_record(window)
    return key is not None and key.is_append_time


def _is_searched(window: RecordWindow, target: RecordWindow) -> bool:
    """Whether there is nothing more to read in the target."""
    return target.to_end and (target.from_start or not _is_late(window))


class _Problems:
    """Why partitions have no new offset, by partition."""

    def __init__(self, group: str) -> None:
        self._group = group
        self._found: dict[tuple[Place, str], Problem] = {}

    def add(self, place: Place, message: str) -> None:
        """Keep it once."""
        subject = f"{self._group}, {name_of(place)}"
        self._found.setdefault((place, message), Problem(subject=subject, message=message))

    def kept(self, answers: Answers[Place, T], where: str) -> Mapping[Place, T]:
        """What was found; the failures are kept."""
        for place, failure in answers.failed.items():
            self.add(place, f"{where}: {worded(failure.name, failure.message, READING_RECORDS)}")
        return answers.found

    @property
    def all(self) -> tuple[Problem, ...]:
        return tuple(self._found.values())


def _usable(
    original: Group,
    places: Sequence[Place],
    ends: tuple[Positions, Positions],
    in_target: Callable[[Place], Place],
    problems: _Problems,
) -> dict[Place, int]:
    """The committed offset of every partition of which the logs' ends are known on both sides."""
    begins, targets = ends
    offsets: dict[Place, int] = {}
    for place in places:
        offset = (original.offsets or {})[place[0]][place[1]].offset
        copy = in_target(place)
        if offset is None or offset < 0:
            problems.add(place, f"its committed offset is {'not known' if offset is None else offset}")
        elif place in begins.unread:
            problems.add(place, f"in the source: {begins.unread[place]}")
        elif copy in targets.unread:
            problems.add(copy, f"in the target: {targets.unread[copy]}")
        elif offset > begins.end[place]:
            message = (
                f"its committed offset {offset} is beyond the end of the source's log, {begins.end[place]}"
            )
            problems.add(place, f"{message}; was the topic deleted and made anew?")
        else:
            offsets[place] = offset
    return offsets


@dataclass(slots=True, kw_only=True)
class ClusterCopy(OffsetsChange):
    """Offsets of a group that are to be set where records of another cluster put them."""

    def change_data(self, group: str, change: OffsetChange) -> dict[str, Any]:
        data = OffsetsChange.change_data(self, group, change)
        if not isinstance(change, CopiedOffset):
            return data
        proof = change.proof
        return {
            **data,
            **fields(change, "source_topic", "source_offset"),
            "source_time": change.time_ms,
            "proof": proof.verdict.value,
            **fields(proof, "records", "twice", "skipped"),
        }

    def table(self) -> Table:
        rows = [
            {**self.change_data(plan.group, change), "group": plan.group}
            for plan in self.plans
            for change in plan.changes
        ]
        names = {
            "group": "GROUP",
            "source_topic": "SOURCE-TOPIC",
            "topic": "TOPIC",
            "partition": "#PARTITION",
            "source_offset": "#SOURCE-OFFSET",
            "source_time": "SOURCE-TIME",
            "before": "#CURRENT-OFFSET",
            "after": "#NEW-OFFSET",
            "end": "#LOG-END-OFFSET",
            "proof": "PROOF",
            "records": "#RECORDS",
            "twice": "#READ-TWICE",
            "skipped": "#SKIPPED",
            "remark": "REMARK",
        }
        if all(row["source_topic"] == row["topic"] for row in rows):
            del names["source_topic"]
        if not any(row["remark"] for row in rows):
            del names["remark"]
        for row in rows:
            time_ms = row["source_time"]
            row["source_time"] = None if time_ms is None else format_moment(time_ms)
            row["remark"] = row["remark"] or ""
        return Table(
            columns=columns(*names.values()), rows=[tuple(row[name] for name in names) for row in rows]
        )
