"""The loop of `kohort bridge`: observe, decide (`migration.bridge`) and act until nothing is left to do, and report."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from cli.changing import carry_out
from cli.consent import ConsentOptions
from cli.errors import UsageError
from cli.journal.entry import ChangedItem, ItemKind, ItemOutcome, ItemResult
from cli.options import OutputOptions, SourceOptions
from cli.output import notice, write_line
from cli.render.document import FORMAT_VERSION, Block, Document, Heading, Table, Text, columns
from cli.render.output_format import FOR_PROGRAMS, OutputFormat
from cli.selection import opened_for_change, with_close_names
from cli.sources.source import Source
from cli.sources.wire_source import WireSource
from cli.stopping import ignoring, raising
from cli.verbs.bridge.membership import SESSION_MS, Membership
from groups.model import Cause, Group, GroupType, Problem
from groups.times import duration_text
from migration.bridge import (
    LONGEST_WAIT_MS,
    BridgePlan,
    BridgeProgress,
    BridgeStep,
    MemberRestart,
    Move,
    bridge_plan,
    comes_first,
    objection,
    unsettled,
)
from wire.client.errors import WireError
from wire.client.security import ConnectionSettings

OBSERVE_S = 0.5


class BridgeStopped(Exception):
    """The bridge has stopped without a conversion; the message contains the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeEvent:
    at_s: float
    step: BridgeStep
    leader: str | None = None  # As the bridge learned when it last joined


def bridge_group(
    group: str, consent: ConsentOptions, source: SourceOptions, output: OutputOptions, *, watch: bool
) -> None:
    if watch and not consent.execute:
        raise UsageError("--watch shows the steps of --execute; without --execute the bridge does nothing")
    is_json = output.output is OutputFormat.JSON
    if watch and output.output in FOR_PROGRAMS and not is_json:
        document = f"--output {output.output.value} one document"
        raise UsageError(f"--watch prints lines, and {document}: use only one of them")
    with opened_for_change(source, execute=consent.execute) as (groups, _):
        change = BridgeChange.planned(groups, group, is_watched=watch, is_json=is_json)
        for text in groups.notices.take():
            notice(text)
        carry_out(change, consent, output, groups)


@dataclass(slots=True, kw_only=True)
class BridgeChange:
    """A `Change`: the planned actions of the bridge in a group, and their outcome."""

    source: Source
    name: str
    group: Group | None
    problems: tuple[Problem, ...]
    is_watched: bool = False
    is_json: bool = False  # Whether the lines of `--watch` are documents
    events: list[BridgeEvent] = field(default_factory=list)
    leader: str | None = None  # As the bridge learned when it last joined; None: not known
    is_converted: bool | None = None
    """Whether the group has been converted with the bridge; None means that nothing was done."""
    why_not: str | None = None

    @classmethod
    def planned(cls, source: Source, name: str, *, is_watched: bool, is_json: bool = False) -> "BridgeChange":
        read = source.describe([name], offsets=False)
        with_leader = source.with_leaders(read.items)
        return cls(
            source=source,
            name=name,
            group=with_leader[0] if with_leader else None,
            problems=with_close_names(source, read.problems),
            is_watched=is_watched,
            is_json=is_json,
        )

    @property
    def question(self) -> str:
        return f"join the group {self.name} with a member that owns nothing, to lead it"

    @property
    def objection(self) -> str | None:
        """Why nothing can be done; also None if the group could not be read."""
        return None if self.group is None else unsettled(self.group) or objection(self.group)

    @property
    def is_empty(self) -> bool:
        return self.group is None or self.objection is not None

    @property
    def refused(self) -> bool:
        return self.objection is not None or self.is_converted is False

    @property
    def done(self) -> str | None:
        return f"the group {self.name} has been converted; the bridge has left" if self.is_converted else None

    def document(self) -> Document:
        objection = self.objection if self.is_converted is None else None
        reasons = filter(None, (objection, self.why_not))
        problems = (*self.problems, *(Problem(subject=self.name, message=why) for why in reasons))
        plan = None if self.group is None or self.is_empty else bridge_plan(self.group)
        blocks = [] if self.group is None or plan is None else list(_blocks(self.group, plan))
        return Document(command="bridge", data=self._data(plan), blocks=blocks, errors=problems)

    def _data(self, plan: BridgePlan | None) -> dict[str, object]:
        group, restarts, steps = self.group, None, []
        if plan is not None and plan.restart is not None and group is not None:
            restarts = [_restart_data(group, restart) for restart in plan.restart]
        for event in self.events:
            step, members = event.step, [restart.member for restart in event.step.restart]
            of_step = {"move": step.move.value, "why": step.why, "restart": members}
            steps.append({"at_s": round(event.at_s, 1), **of_step})
        return {
            "group": self.name,
            "type": group and group.type.value,
            "state": group and group.state.value,
            "protocol": group and group.protocol,
            "leader": plan and plan.leader,
            "members_with_user_data": plan and plan.with_user_data,
            "places": plan and plan.places,
            "bins": plan and plan.bins,
            "restart": restarts,
            "converted": self.is_converted,
            "steps": steps,
        }

    def check_again(self, *, was_asked: bool) -> None:
        """Each step of the bridge reads the group."""

    def items(self) -> Sequence[ChangedItem]:
        if self.group is None or self.is_empty:
            return []
        kind, after = self.group.type, GroupType.CONSUMER.value
        step = ChangedItem(
            kind=ItemKind.STEP, group=self.name, type=kind, name="conversion", before=kind.value, after=after
        )
        return [step]

    def results(self) -> Sequence[ItemResult]:
        if self.is_converted:
            return [ItemResult(result=ItemOutcome.DONE)]
        return [ItemResult(result=ItemOutcome.FAILED, message=self.why_not)]

    def apply(self) -> None:
        source = self.source
        if not isinstance(source, WireSource):
            why = "it uses Kohort's own client, and only librdkafka supports that login"
            instead = "use kafka-console-consumer.sh (the plan shows the command)"
            raise UsageError(f"the bridge cannot log in to {source.name}: {why}; {instead}")
        with raising():
            self._run(source)

    def _run(self, source: WireSource) -> None:
        """Be a member of the group as long as the bridge has something to do."""
        progress, began = BridgeProgress(), time.monotonic()
        member: Membership | None = None
        self.is_converted = False
        try:
            step = BridgeStep(move=Move.REJOIN, why="the bridge joins")
            while step.move not in (Move.CONVERTED, Move.LEAVE):
                self._note(began, step)
                if step.move is Move.REJOIN:
                    if member is not None and (why_not := member.leave()) is not None:
                        raise BridgeStopped(why_not)
                    member = self._joined(source.settings)
                time.sleep(OBSERVE_S)
                step = self._observed(source, progress, member)
            self._note(began, step)
            if step.move is Move.CONVERTED:
                self.is_converted = True
            else:
                self.why_not = step.why
        except (BridgeStopped, WireError) as error:
            self.why_not = str(error)
        finally:
            with ignoring():
                self._leave(member)

    def _joined(self, settings: ConnectionSettings) -> Membership:
        """Start a member that joins the group; first wait until the group is Stable, and check it again."""
        group = self._settled_group()
        why_not = objection(group)
        if why_not is not None:
            raise BridgeStopped(why_not)
        member = Membership(settings, self.name, group.protocol or "", partial(comes_first, group))
        member.start()
        return member

    def _observed(
        self, source: WireSource, progress: BridgeProgress, member: Membership | None
    ) -> BridgeStep:
        standing = member.standing if member else None
        self.leader = standing.leader if standing else None
        if standing is None or standing.lost is not None:
            raise BridgeStopped("it has not joined" if standing is None else str(standing.lost))
        if standing.member is None:
            return BridgeStep(move=Move.WAIT, why="the bridge is joining")
        read = source.describe([self.name], offsets=False)
        gone = not read.items and all(problem.cause is Cause.ABSENT for problem in read.problems)
        if not read.items and not gone:
            raise BridgeStopped("; ".join(problem.message for problem in read.problems))
        group = replace(read.items[0], leader=standing.leader) if read.items else None
        now_ms = time.monotonic_ns() // 1_000_000
        return progress.next_step(group, standing.member, now_ms, withheld=standing.withheld)

    def _settled_group(self) -> Group:
        """The group, once it is Stable: a bridge that leaves for a better position starts a rebalance."""
        began = time.monotonic()
        while True:
            read = self.source.describe([self.name], offsets=False)
            if not read.items:
                raise BridgeStopped("; ".join(problem.message for problem in read.problems))
            why_not = unsettled(read.items[0])
            if why_not is None:
                return self.source.with_leaders(read.items)[0]
            if time.monotonic() - began > LONGEST_WAIT_MS / 1000:
                raise BridgeStopped(why_not)
            time.sleep(OBSERVE_S)

    def _note(self, began: float, step: BridgeStep) -> None:
        """Record and print a step, unless it equals the previous one."""
        if self.events and self.events[-1].step == step:
            return
        event = BridgeEvent(at_s=time.monotonic() - began, step=step, leader=self.leader)
        self.events.append(event)
        if self.is_watched:
            write_line(json.dumps(self._step_document(event)) if self.is_json else line_of(event))
        elif step.move in (Move.RESTART, Move.LEAD):
            notice(line_of(event))

    def _step_document(self, event: BridgeEvent) -> dict[str, object]:
        """A line of `--watch --output json`; the last one is the document of the whole command."""
        step = event.step
        restarts = [{"id": one.member, "manner": one.mode.value, "why": one.why} for one in step.restart]
        of_step = {
            "at_s": round(event.at_s, 1),
            "move": step.move.value,
            "why": step.why,
            "restart": restarts,
        }
        shared = {"kohort": FORMAT_VERSION, "command": "bridge", "group": self.name}
        return {**shared, "leader": event.leader, "step": of_step}

    def _leave(self, member: Membership | None) -> None:
        why_not = member.leave() if member else None
        if why_not is not None:
            rest = f"LeaveGroup failed ({why_not}); its session expires within {duration_text(SESSION_MS)}"
            self.why_not = f"{self.why_not}. {rest}" if self.why_not else rest


def _restart_data(group: Group, restart: MemberRestart) -> dict[str, str | None]:
    member = next(member for member in group.members if member.id == restart.member)
    return {
        "id": member.id,
        "instance": member.instance,
        "client_id": member.client.id,
        "host": member.client.host,
        "manner": restart.mode.value,
        "why": restart.why,
    }


def _blocks(group: Group, plan: BridgePlan) -> Iterator[Block]:
    yield Heading(f"{group.id}: steps until a bridge leads", level=1)
    data, carrying = "Assignments that carry user data", plan.with_user_data
    yield Text(f"{_leader_line(group, plan)} {'' if carrying is None else f'{data}: {carrying}.'}")
    if plan.restart is None:
        yield Text(f"The members to restart are shown when the bridge has joined: {plan.why}.")
    else:
        restarts = enumerate((_restart_data(group, restart) for restart in plan.restart), 1)
        keys = ("manner", "client_id", "id", "host", "why")
        names = ("#ORDER", "ACTION", "CLIENT-ID", "CONSUMER-ID", "HOST", "WHY")
        rows = [(number, *(data[key] for key in keys)) for number, data in restarts]
        yield Table(columns=columns(*names), rows=rows)
    yield Text(
        "The bridge joins, is assigned nothing, and leads once the members above have restarted. Then start the first "
        "member of the consumer protocol: the bridge leaves when the group is converted and Stable."
    )


def _leader_line(group: Group, plan: BridgePlan) -> str:
    names = {member.id: member.client.id or member.id for member in group.members}
    leader = "The present leader is not known." if plan.leader is None else f"{names[plan.leader]} leads now."
    places = f"{plan.places} of {plan.bins} places in the order of succession come before all followers."
    return leader if plan.bins is None else f"{leader} {places}"


def line_of(event: BridgeEvent) -> str:
    """`12.5 s  restart: the bridge leads next (restart app-1-…)`."""
    step = event.step
    restarts = ", then ".join(f"{restart.mode.value} {restart.member}" for restart in step.restart)
    return f"{event.at_s:6.1f} s  {step.move.value}: {step.why}{f'. Now {restarts}' if restarts else ''}"
