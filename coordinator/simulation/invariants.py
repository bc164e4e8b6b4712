"""What must hold after every step, checked where something has changed.

    I1   a partition is consumed by one member                         zombies
    I2   it is given on only after its owner has given it up           handover_rules
    I3   epochs are in order and do not go back                        epoch_rules, consumer_group_rules, client_rules
    I4   without faults all are settled, every partition is owned        rest_rules
    I5   a target gives each partition once, to whom it may have it    classic_group_rules, consumer_group_rules
    I6   callbacks add up                                              client_rules
    I7   commits are taken from members alone, and go on               offset_rules
    I8   the log is the state, and acknowledged is kept                log_rules, offset_rules
    I9   everybody is answered                                         rest_rules
    I10  rebalances end                                                rest_rules
    I11  a generation agrees                                           classic_group_rules
    I12  upgrade and downgrade keep offsets and assignments            offset_rules, consumer_group_rules
    I13  metrics add up                                                client_rules

Each file says what exactly its invariants mean here, and where Kafka's rules make an exception. Where those rules are
too weak for an invariant it falls, and the violation says by which weakness (`known_flaws`). Mistakes of whoever
configures the consumers (a version 0 subscription under a cooperative leader, one bounce instead of two) are none.
"""

from __future__ import annotations

from coordinator.consumer.outputs import Raised
from coordinator.simulation.client_rules import ClientRules
from coordinator.simulation.facts import Facts
from coordinator.simulation.log_rules import LogRules
from coordinator.simulation.process import Process
from coordinator.simulation.rest_rules import RestRules
from coordinator.simulation.story import error_of
from wire.errors import ErrorCode


class Invariants:
    """See the module: hands each happening to the rules that it concerns."""

    def __init__(self, facts: Facts) -> None:
        self.log = LogRules(facts)
        self.clients = ClientRules(facts, self.log.rejoined)
        log = self.log
        self.rest = RestRules(
            facts, log.flaw_of_member, log.flaw_at_rest, log.flaw_of_unrest, log.flaw_of_rebalances
        )
        self.appended, self.answering = log.appended, log.answering
        self.replayed, self.failed_to_load = log.replayed, log.failed_to_load
        self.epoch_changed, self.seeing_topics = self.clients.epoch_changed, self.clients.seeing_topics
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
