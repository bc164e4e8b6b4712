"""Invariants on the end of a run, when all members should settle (I4, I9, I10)."""

from collections import Counter
from itertools import chain

from coordinator.consumer.library import AfterError, MemberSettings
from coordinator.consumer.outputs import TopicPartition
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.invariants import Facts
from coordinator.simulation.log_rules import LogRules
from coordinator.simulation.process import NOTHING, Process
from coordinator.simulation.story import error_of
from coordinator.simulation.watcher import Watcher
from groups.listing import GroupState
from wire.errors import ErrorCode

QUIET_MS = 15_000
"""How long nothing may change before the group counts as settled: several heartbeat intervals."""

SETTLED_MS = 10_000
"""How long a member that was settled still counts as settled: requests may be in flight at any moment."""

MISSING_TOPIC = "UNKNOWN_TOPIC_OR_PART"
"""The exception that librdkafka raises once for a missing topic: a restarted consumer raises it again."""

PASSING = frozenset(
    {
        "",
        "CommitFailedException",
        "RebalanceInProgressException",
        "REBALANCE_IN_PROGRESS",
        "TimeoutException",
        "RetriableCommitFailedException",
        MISSING_TOPIC,
    }
)
"""Exceptions after which a consumer that continues polling recovers."""


class SettlingRules(Watcher):
    """Checked in a quiet period without events and faults after the scenario's end. I4: every polling consumer is a
    member that waits for nothing, the group is Stable, each partition of a subscribed topic has one owner. Not
    required if a listener throws or never returns, or a consumer was refused permanently: Kafka's groups wait for such
    members. I9: then no request is parked, and no answer was UNKNOWN_SERVER_ERROR. I10: there are at most two
    rebalances, and two more for each consumer that had to catch up; threads of Kafka Streams probe more often."""

    def __init__(self, facts: Facts, log: LogRules) -> None:
        self._facts, self._log = facts, log
        self._rebalances = self._thrown = 0  # The number of rebalances when the quiet period started
        self._allowed = 0
        self._settled: dict[Process, int] = {}
        """When a process was last observed with nothing to do: between two heartbeats."""

    def begin(self, rebalances: int) -> None:
        """Start the quiet period; `rebalances` is the number of earlier ones."""
        self._rebalances, self._thrown = rebalances, len(self._facts.measures.thrown)
        self._allowed = 2 * (1 + len(self._facts.processes))

    def received(self, process: Process, answer: object) -> None:
        if error_of(answer) is ErrorCode.UNKNOWN_SERVER_ERROR:
            what = f"{process.name} is answered UNKNOWN_SERVER_ERROR: {type(answer).__name__}"
            self._facts.broken("I9", what, self._log.flaw_of_failure(process.member.member_id))

    def quiet_period_ms(self) -> int:
        """Twice the longest time that members wait; short if the group need not settle."""
        if self.exemption():
            return 4 * QUIET_MS
        longest = 60_000
        for process in self._running():
            settings = MemberSettings.parse(process.script.config)
            waits = settings.max_poll_interval_ms + settings.session_timeout_ms
            batch_ms = int(process.script.batch_topic_changes_s * 1000)
            longest = max(
                longest, waits, settings.metadata_max_age_ms + batch_ms, settings.request_timeout_ms
            )
        return 2 * longest + 60_000

    def unsettled(self) -> str:
        """The first thing that is not settled now; empty if everything is settled."""
        return self._unsettled_member() or self._ownership_problem()[0] or self._out_of_date()

    def unsettled_group(self) -> str:
        """Like `unsettled`, but ignores members that are only busy: frozen, or waiting for an answer."""
        return self._group_unsettled() or self._ownership_problem()[0] or self._out_of_date()

    def _unsettled_member(self) -> str:
        for process in self._running():
            if not process.is_polling:
                return f"{process.name} does not poll"
            if process.member.is_settled:
                self._settled[process] = self._facts.schedule.now_ms
            if self._facts.schedule.now_ms - self._settled.get(process, -SETTLED_MS) >= SETTLED_MS:
                return f"{process.name} is not a settled member"
        return self._group_unsettled()

    def _group_unsettled(self) -> str:
        subscribed = [process for process in self._running() if not process.member.is_outside]
        for process in subscribed:
            if self._facts.is_zombie(process):
                return f"{process.name} is not in the group"
        group = self._facts.engine.state.groups.get(GROUP)
        if subscribed and group is not None and group.state is not GroupState.STABLE:
            return f"the group is {group.state.value}"
        if self._facts.coordinator.engine is not self._facts.engine:
            return "the coordinator is loading"
        return ""

    def judge(self, *, is_settled: bool, rebalances: int) -> None:
        """Check the invariants at the end of the quiet period."""
        broken = self._facts.broken
        made = rebalances - self._rebalances
        # Kafka Streams rebalances by design until its warm-ups are caught up (KIP-441).
        is_bounded = self._facts.scenario.streams is None and not self.exemption()
        if made > self._allowed and is_bounded:
            what = f"{made} rebalances without an event: at most {self._allowed} are allowed"
            broken("I10", what, self._log.classic.flaw_of_rebalances(self._allowed))
        if is_settled:
            for _, number, request, _ in self._facts.coordinator.parked.values():
                broken("I9", f"{type(request).__name__} {number} is never answered")
        elif not self.exemption():
            what = f"not settled {self.quiet_period_ms() // 1000} s after the last event: {self.unsettled()}"
            broken("I4", what, self._known_flaw())

    def exemption(self) -> str:
        """Why a group need not settle; empty if it must."""
        for process in self._running():
            if process.last_error not in PASSING:
                return f"{process.name} has raised {process.last_error}"
            listeners = process.script.listener.values()
            if any(one.throws or one.takes_s is None or one.commits for one in listeners):
                return f"a listener of {process.name} throws or does not return"
        for exception in self._facts.measures.thrown[self._thrown :]:
            script = self._facts.processes[exception.member].script
            does_pass = exception.error in PASSING and exception.error != MISSING_TOPIC
            if script.after_error == AfterError.RESTART.value and not does_pass:
                return f"{exception.member} is restarted repeatedly: it has raised {exception.error}"
        return ""

    def _known_flaw(self) -> str:
        for process in self._running():
            if flaw := self._log.flaw_of_member(process.member.member_id):
                return flaw
        if self._unsettled_member():
            return self._log.classic.flaw_when_unsettled()
        partition = self._ownership_problem()[1]
        return "" if partition is None else self._log.flaw_when_settled(partition)

    def _running(self) -> list[Process]:
        return [process for process in self._facts.processes.values() if process.is_running]

    def _ownership_problem(self) -> tuple[str, TopicPartition | None]:
        """The problem of the first partition that does not have exactly one owner; empty if all have one."""
        running, image = self._running(), self._facts.topics.image
        owned = [process.owned for process in running]
        subscribed = set().union(*(process.wanted(image) for process in running))
        wanted = image.places
        if not image.topics.keys() <= subscribed:
            wanted = frozenset(place for place in wanted if place[0] in subscribed)
        if NOTHING.union(*owned) == wanted and sum(map(len, owned)) == len(wanted):
            return "", None
        owners = Counter(chain.from_iterable(owned))
        for name, topic in image.topics.items():
            if name in subscribed:
                for number in range(topic.partitions):
                    partition = TopicPartition(name, number)
                    count = owners.pop(partition, 0)
                    if count != 1 and not (count and self._facts.violations.shares_partitions):
                        return f"{name}-{number} has {count} owners", partition
        if not owners:
            return "", None
        partition = min(owners)
        name = f"{partition.topic}-{partition.partition}"
        return f"{name} is owned although it does not exist or has no subscriber", partition

    def _out_of_date(self) -> str:
        group = self._facts.engine.state.groups.get(GROUP)
        # A group without members keeps its target; the next member that joins computes a new one.
        if isinstance(group, ConsumerGroup) and group.members and group.epoch != group.assignment_epoch:
            return "the target assignment is out of date"
        return ""
