"""Invariants by how a run ends when nothing disturbs it any more (I4, I9, I10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from coordinator.consumer.library import AfterError
from coordinator.consumer.outputs import TopicPartition
from coordinator.consumer.settings import MemberSettings
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.facts import Facts
from coordinator.simulation.process import Process
from coordinator.simulation.scenario import MemberScript
from groups.listing import GroupState

REST_MS = 15_000
"""How long nothing may have changed for a rest to be one: some heartbeats."""

SETTLED_MS = 10_000
"""For how long a member that was settled counts as such: requests may be under way at any moment."""

MISSING_TOPIC = "UNKNOWN_TOPIC_OR_PART"
"""What a consumer of librdkafka throws once for a topic that is missing: one that is started anew throws it again."""

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
"""Exceptions after which a consumer that goes on polling recovers."""


class RestRules:
    """Checked in a time without events and faults after the scenario's end.

    I4: every consumer that polls is a member that waits for nothing; the group is Stable; each partition of a topic
    that somebody subscribes to has one owner. It is not asked for where a listener throws or never returns, or a
    consumer has been refused for good (FencedInstanceIdException and its kind): Kafka's groups wait for those.

    I9: at rest no request is parked at the coordinator, and no answer was UNKNOWN_SERVER_ERROR.

    I10: there are no more than two rebalances, and two for each consumer that had something to catch up with.
    """

    def __init__(
        self,
        facts: Facts,
        flaw_of_member: Callable[[str], str],
        flaw_at_rest: Callable[[TopicPartition], str],
        flaw_of_unrest: Callable[[], str],
        flaw_of_rebalances: Callable[[int], str],
    ) -> None:
        self._facts, self._flaw_of_member, self._flaw_at_rest = facts, flaw_of_member, flaw_at_rest
        self._flaw_of_unrest, self._flaw_of_rebalances = flaw_of_unrest, flaw_of_rebalances
        self._rebalances = self._thrown = 0
        """How many there were when the quiet time began."""
        self._allowed = 0
        self._settled: dict[Process, int] = {}
        """When a process was last seen with nothing to do: between two heartbeats."""

    def begin(self, rebalances: int) -> None:
        """The quiet time begins; so many rebalances there were before."""
        self._rebalances, self._thrown = rebalances, len(self._facts.measures.thrown)
        self._allowed = 2 * (1 + len(self._facts.processes))

    def quiet_ms(self) -> int:
        """How long the quiet time may take: whatever the members wait for has passed twice; where the group need not
        come to rest, long enough for one that does at once."""
        if self.excuse():
            return 4 * REST_MS
        longest = 60_000
        for process in self._running():
            settings = MemberSettings.parse(process.script.config)
            longest = max(
                longest,
                settings.max_poll_interval_ms + settings.session_timeout_ms,
                settings.metadata_max_age_ms,
                settings.request_timeout_ms,
            )
        return 2 * longest + 60_000

    def unrest(self) -> str:
        """What is not at rest now; empty where all is."""
        return self._unsettled() or self._misowned()[0] or self._out_of_date()

    def unrest_of_group(self) -> str:
        """The same, but for what only keeps a member busy: that it stands still, or waits for an answer."""
        return self._astray() or self._misowned()[0] or self._out_of_date()

    def _unsettled(self) -> str:
        for process in self._running():
            if not process.is_polling:
                return f"{process.name} does not poll"
            if process.member.is_settled:
                self._settled[process] = self._facts.schedule.now_ms
            if self._facts.schedule.now_ms - self._settled.get(process, -SETTLED_MS) >= SETTLED_MS:
                return f"{process.name} is not a settled member"
        return self._astray()

    def _astray(self) -> str:
        for process in self._running():
            if self._facts.is_zombie(process):
                return f"{process.name} is not in the group"
        group = self._facts.engine.state.groups.get(GROUP)
        if self._running() and group is not None and group.state is not GroupState.STABLE:
            return f"the group is {group.state.value}"
        if self._facts.coordinator.engine is not self._facts.engine:
            return "the coordinator loads"
        return ""

    def judge(self, *, is_at_rest: bool, rebalances: int) -> None:
        """At the end of the quiet time."""
        broken = self._facts.broken
        made = rebalances - self._rebalances
        if made > self._allowed and not self.excuse():
            what = f"{made} rebalances without an event: at most {self._allowed} are due"
            broken("I10", what, self._flaw_of_rebalances(self._allowed))
        if is_at_rest:
            for _, number, request, _ in self._facts.coordinator.parked.values():
                broken("I9", f"{type(request).__name__} {number} is never answered")
        elif not self.excuse():
            what = f"not at rest {self.quiet_ms() // 1000} s after the last event: {self.unrest()}"
            broken("I4", what, self._known_flaw())

    def excuse(self) -> str:
        """Why a group need not come to rest; empty where it must."""
        for process in self._running():
            if process.last_error not in PASSING:
                return f"{process.name} has thrown {process.last_error}"
            if _never_ends(process.script):
                return f"a listener of {process.name} throws or does not return"
        for each in self._facts.measures.thrown[self._thrown :]:
            script = self._facts.processes[each.member].script
            if script.after_error == AfterError.RESTART.value and each.error not in PASSING - {MISSING_TOPIC}:
                return f"{each.member} is started again and again: it has thrown {each.error}"
        return ""

    def _known_flaw(self) -> str:
        for each in self._running():
            if flaw := self._flaw_of_member(each.member.member_id):
                return flaw
        if self._unsettled():
            return self._flaw_of_unrest()
        place = self._misowned()[1]
        return "" if place is None else self._flaw_at_rest(place)

    def _running(self) -> list[Process]:
        return [each for each in self._facts.processes.values() if each.is_running]

    def _misowned(self) -> tuple[str, TopicPartition | None]:
        """What is wrong with the first partition that has not one owner; empty where each has."""
        owners: Counter[TopicPartition] = Counter()
        wanted: set[str] = set()
        for process in self._running():
            owners.update(process.owned)
            wanted.update(process.wanted(self._facts.topics.image))
        for name, topic in self._facts.topics.image.topics.items():
            if name in wanted:
                for number in range(topic.partitions):
                    place = TopicPartition(name, number)
                    count = owners.pop(place, 0)
                    if count != 1:
                        return f"{name}-{number} has {count} owners", place
        for place in owners:
            return f"{place.topic}-{place.partition} is owned and does not exist, or is not wanted", place
        return "", None

    def _out_of_date(self) -> str:
        group = self._facts.engine.state.groups.get(GROUP)
        # That of a group without members stays as it was when the last one left; the next one to join computes it.
        if isinstance(group, ConsumerGroup) and group.members and group.epoch != group.assignment_epoch:
            return "the target assignment is out of date"
        return ""


def _never_ends(script: MemberScript) -> bool:
    return any(each.throws or each.takes_s is None or each.commits for each in script.listener.values())
