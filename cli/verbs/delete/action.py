"""Delete groups: plan the deletion from a source, show it, and send it to the cluster."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cli.changing import GROUPS_NAMED, Outcome, Part, carry_out, group_fields
from cli.committed_change import CommittedChange
from cli.consent import EmptyGroupConsent
from cli.errors import UsageError
from cli.journal.entry import ChangedItem, ItemKind, topic_items
from cli.options import DeleteSelection, InternalTopicOptions, OutputOptions, SourceOptions
from cli.output import notice
from cli.render.document import Document, Table, columns
from cli.selection import describe_chosen, opened_for_change
from cli.sources.source import ReadResult, Source
from cli.sources.writer import ClusterWriter
from cli.unused import LAST_USE, last_use_cells, last_use_data
from cli.verbs.internal_topics import (
    delete_topics_of,
    topic_tables,
    topics_data,
    topics_in_question,
    with_internal_topics,
)
from cli.waiting import wait_until_empty
from groups.counts import counted
from groups.lag import each_once, partition_lags, topics_with_offsets, total_lag
from groups.listing import shown_id
from groups.model import Group, Problem, TopicPartition, each_commit
from groups.offsets.model import PlannedChange
from groups.offsets.plan import plan_group_deletion
from groups.use import last_use


@dataclass(slots=True, kw_only=True)
class GroupDeletions(CommittedChange[PlannedChange]):
    did, what = "deleted", "group"
    of_all_offsets = True

    lags: Mapping[str, int | None] | None = None
    """Lag by group if the last use was requested; both are shown then."""

    @property
    def question(self) -> str:
        plans = self.plans_to_apply
        what = f"the group {shown_id(plans[0].group)}" if len(plans) == 1 else f"{len(plans)} groups"
        topics = topics_in_question(plans)
        more = f" and {topics}" if topics else ""
        return f"delete {what} with all committed offsets{more}"

    @property
    def done(self) -> str | None:
        made = [key for key, failed in (self.outcome or {}).items() if failed is None]
        gone, topics = [group for group, part in made if part is None], [part for _, part in made if part]
        if not gone:
            return None
        what = f"{len(gone)} groups" if len(gone) > GROUPS_NAMED else ", ".join(map(shown_id, gone))
        return f"deleted {what}" + (f"; deleted {counted(len(topics), 'internal topic')}" if topics else "")

    def objections(self, plan: PlannedChange) -> Sequence[Problem]:
        return (*plan.refusals, *plan.problems)

    def committed_before(self, plan: PlannedChange) -> Mapping[TopicPartition, int | None]:
        return {
            (topic, partition): committed.position
            for topic, partitions in (plan.described.offsets or {}).items()
            for partition, committed in partitions.items()
        }

    def items_of(self, plan: PlannedChange) -> Iterator[tuple[Part, ChangedItem]]:
        group = plan.described
        yield (
            None,
            ChangedItem(kind=ItemKind.GROUP, group=group.id, type=group.type, before=group.state.value),
        )
        for partition, _ in each_commit(self.now.get(group.id, group.offsets)):
            yield None, self.offset_item(plan, partition, None)
        yield from topic_items(plan)

    def send_through(self, writer: ClusterWriter) -> Iterator[Outcome]:
        outcome = writer.delete_groups([plan.group for plan in self.plans_to_apply])
        yield {(group, None): failed for group, failed in outcome.items()}
        yield from delete_topics_of(self, writer)

    def document(self) -> Document:
        groups, lags = [plan.described for plan in self.plans], self.lags
        rows = []
        for group in groups:
            used = () if lags is None else (*last_use_cells(last_use(group)), lags.get(group.id))
            kind, state = group.type.value.capitalize(), group.state.value
            rows.append((group.id, kind, state, len(group.members), _offsets(group), *used))
        more = [] if lags is None else [*LAST_USE, "#LAG"]
        table = Table(columns=columns("GROUP", "TYPE", "STATE", "##MEMBERS", "##OFFSETS", *more), rows=rows)
        data = {"executed": self.outcome is not None, "groups": [self._data(plan) for plan in self.plans]}
        states = self.with_states(table, ((group.id, None) for group in groups))
        blocks = [states, *topic_tables(self.plans)]
        return Document(command="delete", data=data, blocks=blocks, errors=tuple(self.errors))

    def _data(self, plan: PlannedChange) -> dict[str, object]:
        group, used = plan.described, dict[str, object]()
        if self.lags is not None:
            used = {**last_use_data(last_use(group)), "lag": self.lags.get(plan.group)}
        done = {"applicable": plan.applicable, "deleted": self.applied(plan.group)}
        return {**group_fields(group), "offsets": _offsets(group), **done, **used, **topics_data(self, plan)}


def _offsets(group: Group) -> int | None:
    """Number of partitions with committed offsets; None if not known."""
    return None if group.offsets is None else sum(map(len, group.offsets.values()))


def delete_groups(
    selection: DeleteSelection,
    internal_topics: InternalTopicOptions,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    if selection.unused_for is not None and consent.wait_empty is not None:
        raise UsageError("--unused-for selects groups without members; leave --wait-empty out")
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        read = describe_chosen(groups, selection, offsets=True)
        chosen = [group.id for group in read.items]
        if wait_until_empty(groups, chosen, consent):
            again = groups.describe(chosen, offsets=True)
            read = replace(again, problems=(*read.problems, *again.problems))
        change = plan_group_deletions(
            groups, read, internal_topics, with_last_use=selection.unused_for is not None, writer=writer
        )
        carry_out(change, consent, output, groups)


def plan_group_deletions(
    source: Source,
    read: ReadResult[Group],
    topics: InternalTopicOptions,
    *,
    with_last_use: bool = False,
    writer: ClusterWriter | None,
) -> GroupDeletions:
    """Plan the deletion of groups; they are described with their offsets, and with their last use if it is shown."""
    plans = with_internal_topics(source, list(map(plan_group_deletion, read.items)), topics)
    lags = None
    if with_last_use:
        logs = source.topics(topics_with_offsets(read.items), end_offsets=True)
        for problem in logs.problems:
            notice(f"{problem.subject}: lag is not known: {problem.message}")
        known = {topic.name: topic for topic in logs.items}
        rows = {group.id: each_once(partition_lags(group, known)) for group in read.items}
        lags = {name: total_lag(row.lag for row in listed) for name, listed in rows.items()}
    return GroupDeletions(plans=plans, problems=read.problems, lags=lags, writer=writer)
