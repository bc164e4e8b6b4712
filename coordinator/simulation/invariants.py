"""The conditions that must hold after every step, checked if something has changed.

    I1   a partition is consumed by one member                     zombies
    I2   it is reassigned only after its owner has released it     handover_rules
    I3   epochs are in order and do not decrease                   epoch_rules, consumer_group_rules, client_rules
    I4   without faults all settle, every partition is owned       settling_rules
    I5   a target assigns each partition once, to a subscriber     classic_group_rules, consumer_group_rules
    I6   callbacks are consistent                                  client_rules
    I7   only members can commit, and offsets do not decrease      offset_rules
    I8   the log is the state, acknowledged changes are kept       log_rules, offset_rules
    I9   every request is answered                                 settling_rules
    I10  rebalances end                                            settling_rules
    I11  a generation agrees                                       classic_group_rules
    I12  upgrade and downgrade keep offsets and assignments        offset_rules, consumer_group_rules
    I13  metrics are consistent                                    client_rules

Each file defines its invariants exactly, with the exceptions that Kafka's rules make. If those rules are too weak for
an invariant, it is violated, and the violation names the weakness (`known_flaws`). Configuration errors of consumers
(a version 0 subscription under a cooperative leader, one bounce instead of two) are not violations.
"""

from __future__ import annotations

from coordinator.consumer.outputs import Raised
from coordinator.simulation.client_rules import ClientRules
from coordinator.simulation.facts import Facts
from coordinator.simulation.log_rules import LogRules
from coordinator.simulation.process import Process
from coordinator.simulation.settling_rules import SettlingRules
from coordinator.simulation.story import error_of
from wire.errors import ErrorCode


class Invariants:
    """See the module. Passes each event to the rules that it concerns."""

    def __init__(self, facts: Facts) -> None:
        self.log = LogRules(facts)
        self.clients = ClientRules(facts, self.log.rejoined)
        log = self.log
        self.settling = SettlingRules(
            facts, log.flaw_of_member, log.flaw_when_settled, log.flaw_when_unsettled, log.flaw_of_rebalances
        )
        self.appended, self.answering = log.appended, log.answering
        self.replayed, self.failed_to_load = log.replayed, log.failed_to_load
        self.epoch_changed, self.refreshing_topics = (
            self.clients.epoch_changed,
            self.clients.refreshing_topics,
        )
        self.calling, self.called_back = self.clients.calling, self.clients.called_back
        self._facts = facts

    def raised(self, process: Process, raised: Raised) -> None:
        if raised.error == "IllegalStateException":
            self.log.failed_to_assign(process)

    def received(self, process: Process, answer: object) -> None:
        if getattr(answer, "error", None) and error_of(answer) is ErrorCode.UNKNOWN_SERVER_ERROR:
            self._facts.broken(
                "I9",
                f"{process.name} is answered UNKNOWN_SERVER_ERROR: {type(answer).__name__}",
                self.log.flaw_of_failure(process.member.member_id),
            )
        self.clients.received(process, answer)
