"""Invariants of the applications' observations: callbacks, epochs and metrics (I3, I6, I13)."""

from collections import Counter
from collections.abc import Container

from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.consumer.outputs import Callback, CallbackKind, Partitions
from coordinator.consumer.reconciling_member import ReconcilingMember
from coordinator.engine.classic.rebalance import SyncGroupAnswer
from coordinator.engine.topics import TopicImage
from coordinator.simulation.invariants import Facts
from coordinator.simulation.known_flaws import ASSIGNED_TOO_LATE, LOST_AGAIN, REJOINED_UNNOTICED
from coordinator.simulation.process import NOTHING, Process
from coordinator.simulation.story import partition_text
from coordinator.simulation.watcher import Watcher


class ClientRules(Watcher):
    """Checked with every callback and every change of a member's epoch.

    I3 for clients: an epoch decreases only to 0 or -1 (fenced, or starting over). A generation counts once its
    SyncGroup is answered: one that was joined and not synced may be used again after a failover.

    I6: `revoked` names what the listener holds (all of it in an eager group), `assigned` what it does not hold, `lost`
    all that it holds, and only when the member has no epoch any more, or Java leaves during a rebalance; what is left
    is what the consumer owns. Under the consumer protocol a `revoked` that threw is called again (not by librdkafka),
    and `lost` repeats it. A librdkafka member loses partitions of deleted topics, also if they exist again (story
    topic-recreated-while-paused)."""

    def __init__(self, facts: Facts, rejoined: Container[str]) -> None:
        self._facts, self._rejoined = facts, rejoined
        self._held: dict[Process, Partitions] = {}
        self._calls: dict[Process, Counter[CallbackKind]] = {}
        self._synced: dict[Process, int] = {}
        self._late: set[Process] = set()
        """Processes whose listener was assigned partitions after they had left the group."""
        self._back: dict[Process, frozenset[str]] = {}
        """Topics recreated since the last callback while outside `poll`: a `lost` of them waits for it."""
        self._disturbed: set[Process] = set()
        """Left the group involuntarily, or their listener has thrown: not all of their rebalances end."""

    def epoch_changed(self, process: Process, before: int) -> None:
        epoch = process.epoch
        if epoch <= 0:
            self._disturbed.add(process)
            self._synced.pop(process, None)
            return
        least = self._synced.get(process, 0) if isinstance(process.member, ClassicConsumer) else before
        if epoch < least:
            known = REJOINED_UNNOTICED if process.member.member_id in self._rejoined else ""
            self._facts.broken("I3", f"{process.name} goes back from epoch {least} to {epoch}", known)

    def received(self, process: Process, answer: object) -> None:
        if type(answer) is SyncGroupAnswer and not answer.error:
            self._synced[process] = process.member.epoch

    def refreshing_topics(self, process: Process, image: TopicImage) -> None:
        if not process.member.in_poll:
            there = process.member.image.topics
            back = frozenset(name for name in image.topics if name not in there)
            self._back[process] = self._back.get(process, frozenset()) | back

    def calling(self, process: Process, callback: Callback) -> None:
        held, named = self._held.get(process, NOTHING), callback.partitions
        calls = self._calls.get(process) or self._calls.setdefault(process, Counter())
        calls[callback.kind] += 1
        wrong = self._wrong(process, callback.kind, held, named)
        is_late = process in self._late
        if wrong:
            self._facts.broken(
                "I6",
                f"{process.name}: {callback.kind.value} names {partition_text(named)}, {wrong}; "
                f"its listener holds {partition_text(held)}, its consumer {partition_text(process.member.owned)}",
                ASSIGNED_TOO_LATE if is_late else _flaw_of(process, callback),
            )
        if callback.kind is CallbackKind.ASSIGNED:
            self._held[process] = held | named
            if process.member.epoch <= 0 and process.script.protocol == "consumer":
                self._late.add(process)
        else:
            is_leaked = is_late and callback.kind is CallbackKind.LOST
            self._held[process] = NOTHING if is_leaked else held - named
            self._late.discard(process)
        self._back.pop(process, None)

    def called_back(self, process: Process, callback: Callback, threw: bool) -> None:
        if not threw:
            return
        self._disturbed.add(process)
        self._calls[process][callback.kind] -= 1  # not in the metrics
        can_refuse = process.member.identity.library.behavior.listener_can_refuse
        if callback.kind is CallbackKind.REVOKED and process.script.protocol == "consumer" and can_refuse:
            self._held[process] = self._held[process] | callback.partitions

    def check_settled(self, process: Process) -> None:
        """I6 and I13 (metrics count every callback that returned, and each `assigned` once) for a process that waits
        for nothing. A rebalance that ended as the member left counts as well; one whose `assigned` was called again
        counts once."""
        held, calls = self._held.get(process, NOTHING), self._calls.get(process, Counter())
        if held != process.member.owned:
            owns = f"{process.name} owns {partition_text(process.member.owned)}"
            self._facts.broken("I6", f"{owns}, and its listener holds {partition_text(held)}")
        metrics = process.member.metrics
        for kind, latency in metrics.callbacks.items():
            if latency.count != calls[kind]:
                what = f"counts {latency.count} calls of {kind.value} instead of {calls[kind]}"
                self._facts.broken("I13", f"{process.name} {what}")
        if not isinstance(process.member, ClassicConsumer) or process in self._disturbed:
            return
        ends = calls[CallbackKind.ASSIGNED]
        if metrics.rebalances.count != ends:
            what = f"rebalance-total is {metrics.rebalances.count} after {ends} rebalances"
            self._facts.broken("I13", f"{process.name}: {what}")

    def _wrong(self, process: Process, kind: CallbackKind, held: Partitions, named: Partitions) -> str:
        owned = process.member.owned
        if kind is CallbackKind.ASSIGNED:
            if named & held:
                return "which it already holds"
            return "" if owned == held | named else "which are not the new partitions"
        if kind is CallbackKind.LOST:
            known = process.member.image.topics.keys() - self._back.get(process, frozenset())
            if process.member.identity.library.behavior.topic_error and all(
                partition.topic not in known for partition in named
            ):
                return ""  # a separate callback, independent of the rest
            leaves = isinstance(process.member, ClassicConsumer) and process.member.leaves_with_lost
            if process.member.epoch > 0 and process.member.member_id and not leaves:
                return "although it has not left the group"
            is_all = named == owned and held <= named
            may_differ = process.script.protocol == "consumer"
            return "" if is_all and (named == held or may_differ) else "which is not all"
        if not named <= held:
            return "which it does not hold"
        is_eager = isinstance(process.member, ClassicConsumer) and not process.member.is_cooperative
        return "which is not all that an eager member revokes" if is_eager and named != held else ""


def _flaw_of(process: Process, callback: Callback) -> str:
    member = process.member
    is_repeated = isinstance(member, ReconcilingMember) and callback.partitions == member.released
    return LOST_AGAIN if callback.kind is CallbackKind.LOST and is_repeated else ""
