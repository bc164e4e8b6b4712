"""`kohort offsets clone`: plan to commit the same offsets, or those of the same records in another cluster."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cli.changing import carry_out
from cli.consent import EmptyGroupConsent
from cli.errors import CommandError, UsageError
from cli.options import OutputOptions, SourceOptions, TargetClusterOptions
from cli.output import notice
from cli.render.document import Table, fields, table_of
from cli.selection import opened, opened_for_change
from cli.sources.positions import positions_of, unread_logs
from cli.sources.source import Source
from cli.sources.wire_source import records_of
from cli.sources.writer import ClusterWriter
from cli.verbs.offsets import facts as group_facts
from cli.verbs.offsets.change import OffsetsChange
from cli.verbs.offsets.copied_offsets import CopyRequest, OffsetCopier
from cli.waiting import wait_until_empty
from groups.model import Group, Problem, TopicPartition, wrong_topic_name
from groups.offsets.model import OffsetChange, TopicScope, committed_in
from groups.offsets.plan import plan_copy
from groups.offsets.proof import CopiedOffset, TopicNames, plan_cluster_copy
from groups.times import format_moment

_SEARCHED = 10_000
_NONE = "to compare, so offsets cannot be copied to or from another cluster; use live clusters"


def clone_offsets(
    origin: str,
    target: str,
    topics: Sequence[str] | None,
    cluster: TargetClusterOptions,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Copy the offsets of one group to another, in the same cluster unless `cluster` names the target's."""
    scopes = group_facts.parse_scopes(topics)
    if cluster.source is None:
        for name in ("topic_prefix", "renamed", "search", "unproved"):
            if getattr(cluster, name):
                option = "map" if name == "renamed" else name.replace("_", "-")
                raise UsageError(
                    f"--{option} is for another cluster; name it with --to-context or --to-bootstrap-server"
                )
        with opened_for_change(source, execute=consent.execute) as (groups, writer):
            wait_until_empty(groups, [target], consent)
            carry_out(plan_clone(groups, origin, target, scopes, writer), consent, output, groups)
        return
    request = copy_request(origin, target, scopes, cluster)
    with (
        opened(source) as groups,
        opened_for_change(cluster.source, execute=consent.execute) as (there, writer),
    ):
        wait_until_empty(there, [target], consent)
        carry_out(plan_cluster_clone(groups, there, request, writer), consent, output, there)


def plan_clone(
    source: Source, origin: str, target: str, scopes: Sequence[TopicScope], writer: ClusterWriter | None
) -> OffsetsChange:
    """Plan to copy the offsets of one group to another. CommandError if there are none to copy."""
    if origin == target:
        raise UsageError(f"{origin} is both the source and the target group")
    original = group_facts.committed_original(source, origin)
    read = group_facts.find_groups(source, [target], named=True)
    topics = group_facts.PartitionCounts(source)
    places, missing = topics.existing(_committed(original, scopes))
    positions = positions_of(source, places, None)
    plans = tuple(
        plan_copy(original, group, places, positions, **read.facts(group, missing)) for group in read.groups
    )
    group_facts.notify_new_groups(plans)
    group_facts.notify_irreversible(plans)
    group_facts.notify_pending(plans, time.time_ns() // 1_000_000)
    group_facts.notify_kept_offsets(read.groups, set(places))
    return OffsetsChange(
        command="offsets clone",
        plans=plans,
        problems=(*read.others, *topics.problems, *unread_logs(positions)),
        facts={"from": origin},
        writer=writer,
        topic_ids=topics.ids,
    )


def copy_request(
    origin: str, target: str, scopes: tuple[TopicScope, ...], copy: TargetClusterOptions
) -> CopyRequest:
    """The request; UsageError for a --map that is not a pair of topics."""
    renamed: dict[str, str] = {}
    for pair in copy.renamed or ():
        topic, equals, there = (part.strip() for part in pair.partition("="))
        if not equals or not topic or not there or "=" in there:
            raise UsageError(f"--map {pair!r} is not SOURCE=TARGET, such as orders=us-west.orders")
        for name in (topic, there):
            if (wrong := wrong_topic_name(name)) is not None:
                raise UsageError(f"--map {pair!r}: {name!r} is {wrong}")
        if renamed.setdefault(topic, there) != there:
            raise UsageError(f"--map maps {topic} to two topics: {renamed[topic]} and {there}")
    names, search = TopicNames(prefix=copy.topic_prefix or "", renamed=renamed), copy.search or _SEARCHED
    return CopyRequest(
        origin=origin, target=target, scopes=scopes, names=names, search=search, unproved=copy.unproved
    )


def plan_cluster_clone(
    source: Source, target: Source, request: CopyRequest, writer: ClusterWriter | None
) -> "ClusterCopy":
    """Plan the offsets to commit in the target that correspond to a group's committed offsets in the source."""
    reader, copies = records_of(source, _NONE), records_of(target, _NONE)
    clusters = [client.metadata([]) for client in (reader, copies)]
    ids = [cluster.cluster_id for cluster in clusters]
    addresses = [{broker.address for broker in cluster.brokers} for cluster in clusters]
    shared = addresses[0] & addresses[1]
    # Clusters created from copies of the same disks have the same id.
    if ids[0] == ids[1] and shared and request.origin == request.target and request.names == TopicNames():
        raise UsageError(f"{source.name} and {target.name} are the same cluster, and the group is the same")
    original = group_facts.committed_original(source, request.origin)
    read = group_facts.find_groups(target, [request.target], named=True)
    places = _committed(original, request.scopes)
    for first, second, copy in request.names.collisions(topic for topic, _ in places):
        raise UsageError(f"{first} and {second} would both be {copy} in {target.name}; name them with --map")
    for topic in sorted(request.names.renamed.keys() - {topic for topic, _ in places}):
        notice(f"--map {topic}: {request.origin} has committed nothing there")
    pairs = _PartitionPairs(
        group_facts.PartitionCounts(source), group_facts.PartitionCounts(target), request.names
    )
    pairs.find(places, request.target)
    copied = OffsetCopier(source, target, reader, copies, request).prove(original, pairs.places)
    missing = (*pairs.missing, *copied.problems)
    plans = tuple(
        plan_cluster_copy(
            original,
            group,
            copied.proved,
            request.names,
            copied.positions,
            unproved=request.unproved,
            refused=pairs.refused,
            **read.facts(group, missing),
        )
        for group in read.groups
    )
    group_facts.notify_new_groups(plans)
    group_facts.notify_irreversible(plans)
    group_facts.notify_kept_offsets(
        read.groups, {request.names.in_target(partition) for partition in pairs.places}
    )
    return ClusterCopy(
        command="offsets clone",
        plans=plans,
        problems=(*read.others, *pairs.problems),
        facts={"from": request.origin, "source_cluster": ids[0], "target_cluster": ids[1]},
        writer=writer,
        topic_ids=pairs.copies.ids,
    )


def _committed(original: Group, scopes: Sequence[TopicScope]) -> tuple[TopicPartition, ...]:
    """The partitions whose offsets are copied. CommandError if there are none."""
    places = tuple(committed_in(scopes, original.offsets or {}))
    if not places:
        raise CommandError(f"{original.id}: has no committed offsets in these topics")
    return places


@dataclass(slots=True)
class _PartitionPairs:
    """The partitions of both clusters."""

    originals: group_facts.PartitionCounts
    copies: group_facts.PartitionCounts
    names: TopicNames
    places: Sequence[TopicPartition] = ()
    """The partitions that exist in both clusters, of topics with the same number of partitions."""
    missing: tuple[Problem, ...] = ()
    refused: tuple[Problem, ...] = ()

    def find(self, committed: Iterable[TopicPartition], group: str) -> None:
        places, missing = self.originals.existing(committed)
        in_target = self.names.in_target
        there, absent = self.copies.existing(map(in_target, places))
        topics = dict.fromkeys(topic for topic, _ in places)
        unequal = [
            topic for topic in topics if None not in (counts := self._counts(topic)) and len(set(counts)) > 1
        ]
        self.places = [place for place in places if in_target(place) in there and place[0] not in unequal]
        prefixes = tuple(f"{topic}-" for topic in unequal)
        self.missing = missing + tuple(
            Problem(subject=f"{problem.subject} in the target", message=problem.message)
            for problem in absent
            if not problem.subject.startswith(prefixes)
        )
        why = (
            "records with the same key may be in another partition; reset this topic by time instead "
            "(offsets reset --to-datetime)"
        )
        for topic in unequal:
            numbers = "{} partitions in the source and {} in the target".format(*self._counts(topic))
            subject = f"{group}, {in_target((topic, 0))[0]}"
            self.refused += (Problem(subject=subject, message=f"{numbers}: {why}"),)

    def _counts(self, topic: str) -> tuple[int | None, int | None]:
        copy, _ = self.names.in_target((topic, 0))
        return self.originals.counts.get(topic), self.copies.counts.get(copy)

    @property
    def problems(self) -> tuple[Problem, ...]:
        return (*self.originals.problems, *self.copies.problems)


@dataclass(slots=True, kw_only=True)
class ClusterCopy(OffsetsChange):
    """Offsets to set for a group, found by comparing records with another cluster."""

    def change_data(self, group: str, change: OffsetChange) -> dict[str, object]:
        data = OffsetsChange.change_data(self, group, change)
        if not isinstance(change, CopiedOffset):
            return data
        data |= {**fields(change, "source_topic", "source_offset"), "source_time": change.time_ms}
        proof = change.proof
        return {**data, "proof": proof.verdict.value, **fields(proof, "records", "twice", "skipped")}

    def table(self) -> Table:
        changes = [(plan.group, change) for plan in self.plans for change in plan.changes]
        rows = [{**self.change_data(group, change), "group": group} for group, change in changes]
        renamed = any(row["source_topic"] != row["topic"] for row in rows)
        remarked = any(row["remark"] for row in rows)
        return table_of(
            rows,
            "GROUP",
            *["SOURCE-TOPIC"] * renamed,
            "TOPIC",
            "#PARTITION",
            "#SOURCE-OFFSET",
            ("SOURCE-TIME", lambda row: row["source_time"] and format_moment(row["source_time"])),
            ("#CURRENT-OFFSET", "before"),
            ("#NEW-OFFSET", "after"),
            ("#LOG-END-OFFSET", "end"),
            "PROOF",
            "#RECORDS",
            ("#READ-TWICE", "twice"),
            "#SKIPPED",
            *[("REMARK", lambda row: row["remark"] or "")] * remarked,
        )
