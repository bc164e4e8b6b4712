"""Remove members: the plan, the requests, and the group afterwards."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.changing import Outcome, Part, WrittenChange, carry_out, group_fields
from cli.consent import ClusterConsent
from cli.errors import UsageError
from cli.journal.entry import ChangedItem, ItemKind
from cli.options import OutputOptions, SourceOptions
from cli.output import notice
from cli.render.cells import partitions_text
from cli.render.document import Document, Table, columns
from cli.selection import opened_for_change, with_close_names
from cli.sources.permissions import ending
from cli.sources.source import Source
from cli.sources.writer import ClusterWriter
from cli.verbs.describe.members import partitions_data
from groups.counts import counted
from groups.listing import GroupFilter, GroupListing
from groups.model import Cause, Group, GroupType, Member, Problem
from groups.removal import MemberChoice, MembersRemoval, consequences, plan_removal, rejoined
from wire.client.groups import MOST_OF_REASON
from wire.errors import WireError

REASON = "removed by an administrator"


@dataclass(slots=True, kw_only=True)
class MembersChange(WrittenChange[MembersRemoval]):
    did, what = "removed", "member"
    shown_by = "describe {group} --members"

    plan: MembersRemoval
    reason: str | None
    source: Source
    after: Group | None = None  # None if the change was not made or the group cannot be read

    @property
    def question(self) -> str:
        return f"remove {counted(self.plan.count, 'member')} of {self.plan.group}; running members rejoin"

    def objections(self, plan: MembersRemoval) -> Sequence[Problem]:
        return (*plan.refusals, *plan.problems)

    def parts(self, plan: MembersRemoval) -> Iterable[Part]:
        return [member.id for member in plan.members]

    def items_of(self, plan: MembersRemoval) -> Iterator[tuple[Part, ChangedItem]]:
        group = plan.described
        for member in plan.members:
            client = " at ".join(filter(None, (member.client.id, member.client.host))) or None
            yield (
                member.id,
                ChangedItem(
                    kind=ItemKind.MEMBER, group=group.id, type=group.type, name=member.id, before=client
                ),
            )

    def send_through(self, writer: ClusterWriter) -> Iterator[Outcome]:
        failures = writer.remove_members(self.plan.described, self.plan.members, self.reason or REASON)
        yield {(self.plan.group, member): failed for member, failed in failures.items()}
        try:
            self.after = next(iter(self.source.describe([self.plan.group], offsets=False).items), None)
        except WireError as error:
            notice(f"{self.plan.group}: its state after the change is not known: {error}")

    @property
    def done(self) -> str | None:
        removed = sum(failed is None for failed in (self.outcome or {}).values())
        if not removed:
            return None
        did = f"removed {counted(removed, 'member')} of {self.plan.group}"
        if self.after is None:
            return did
        back = [f"{old} (now {new.id})" if new.id != old else old for old, new in self._again.items()]
        again = f"; already rejoined: {', '.join(back)}" if back else ""
        return f"{did}, which is {self.after.state.value} with {counted(len(self.after.members), 'member')}{again}"

    @property
    def _again(self) -> dict[str, Member]:
        removed = [member for member in self.plan.members if self.applied(self.plan.group, member.id)]
        return {} if self.after is None else rejoined(removed, self.after)

    def document(self) -> Document:
        plan = self.plan
        static = any(member.instance for member in plan.members)
        instance = ["GROUP-INSTANCE-ID"] if static else []
        names = ["GROUP", "CONSUMER-ID", *instance, "HOST", "CLIENT-ID", "##PARTITIONS", "CURRENT-ASSIGNMENT"]
        follows = tuple(consequences(plan)) if plan.applicable else ()
        rows = [
            (
                plan.group,
                member.id,
                *((member.instance,) if static else ()),
                *(member.client.host, member.client.id),
                None if member.owned is None else sum(map(len, member.owned.values())),
                partitions_text(member.owned),
            )
            for member in plan.members
        ]
        data = {
            **group_fields(plan.described),
            "applicable": plan.applicable,
            "follows": list(follows),
            "removals": [self._member_data(member) for member in plan.members],
        }
        table, places = (
            Table(columns=columns(*names), rows=rows),
            [(plan.group, one.id) for one in plan.members],
        )
        return Document(
            command="members remove",
            data={"executed": self.outcome is not None, "reason": self.reason, "groups": [data]},
            blocks=[self.with_states(table, places)],
            errors=tuple(self.errors),
            remarks=() if self.outcome is not None else follows,
        )

    def _member_data(self, member: Member) -> dict[str, object]:
        applied, again = self.applied(self.plan.group, member.id), self._again.get(member.id)
        return {
            "member": member.id,
            "instance": member.instance,
            "client_id": member.client.id,
            "host": member.client.host,
            "protocol": member.protocol and member.protocol.value,
            "epoch": member.epoch,
            "owned": partitions_data(member.owned),
            "removed": applied,
            "joined_again_as": again and again.id,
        }


def remove_members(
    group: str,
    options: Mapping[str, Any],
    reason: str | None,
    consent: ClusterConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Remove the members that `MemberOptions` choose. UsageError if they choose none, or all and some."""
    names = {kind: tuple(options[kind] or ()) for kind in ("instances", "clients", "hosts")}
    choice = MemberChoice(ids=tuple(options["members"] or ()), everyone=options["everyone"], **names)
    if choice.is_empty:
        raise UsageError(
            "one of --member ID, --instance ID, --client-id ID, --host HOST or --all is required"
        )
    if choice.everyone and choice.names:
        raise UsageError("--all cannot be used with --member, --instance, --client-id or --host")
    if reason is not None and len(reason) > MOST_OF_REASON:
        raise UsageError(f"--reason has {len(reason)} characters; Kafka takes at most {MOST_OF_REASON}")
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        carry_out(
            plan_members_removal(groups, group, choice, reason=reason, writer=writer), consent, output, groups
        )


def plan_members_removal(
    source: Source, group: str, choice: MemberChoice, *, reason: str | None, writer: ClusterWriter | None
) -> MembersChange:
    read = source.describe([group], offsets=False)
    described = next(iter(read.items), None) or _without_description(source, group, choice, read.problems)
    for problem in read.problems:  # a removal needs the members' ids only
        notice(f"{problem.subject}: {problem.message}")
    plan = plan_removal(described, choice, is_described=bool(read.items))
    if reason and plan.described.type in (GroupType.SHARE, GroupType.STREAMS):
        notice(
            f"--reason is not sent: {plan.described.type.value} members leave by a heartbeat, which has no field for it"
        )
    return MembersChange(plans=(plan,), plan=plan, reason=reason, source=source, writer=writer)


def _without_description(
    source: Source, group: str, choice: MemberChoice, problems: tuple[Problem, ...]
) -> Group:
    """A group that cannot be described, with the members chosen by id; CommandError if that is impossible."""
    listed: tuple[GroupListing, ...] = ()
    if problems[0].cause is Cause.UNREAD and choice.ids == choice.names and not choice.everyone:
        listed = source.select_groups(GroupFilter(has_name=group.__eq__), described=False).items
    if not listed:
        raise ending(with_close_names(source, problems)[0])
    members = tuple(Member(id=member) for member in dict.fromkeys(choice.ids))
    return Group(id=group, type=listed[0].type, state=listed[0].state, members=members)
