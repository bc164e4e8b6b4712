"""Safety rules that can be switched off, to see which invariant is violated without them (S10).
Each is switched off in the real engine or member, for all runs of the process: play no other run meanwhile."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from unittest import mock

from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.registry import find, rebalance_protocol
from coordinator.consumer import classic_rebalance, leader
from coordinator.engine.consumer import heartbeat, reconciliation, update
from coordinator.engine.consumer.member import ConsumerMember
from coordinator.engine.records import TopicPartitions
from coordinator.simulation.node import CoordinatorNode


@contextmanager
def _assign_owned_partitions() -> Iterator[None]:
    """The coordinator assigns a partition although another member owns it or is still revoking it."""

    def goal(**fields: Any) -> reconciliation.ReconciliationInput:
        return reconciliation.ReconciliationInput(**{**fields, "is_free": lambda _topic, _partition: True})

    with mock.patch.object(update, "ReconciliationInput", goal):
        yield


@contextmanager
def _treat_as_revoked() -> Iterator[None]:
    """A partition counts as revoked by a consumer member as soon as the member was asked to revoke it."""
    with mock.patch.object(reconciliation, "_still_has", return_value=False):
        yield


@contextmanager
def _accept_any_report() -> Iterator[None]:
    """The coordinator accepts a heartbeat of the previous epoch, whatever partitions it reports."""
    original = heartbeat._check_epoch

    def check(member: ConsumerMember, epoch: int, owned: TopicPartitions | None) -> None:
        original(member, epoch, None if owned is None else {})

    with mock.patch.object(heartbeat, "_check_epoch", check):
        yield


@contextmanager
def _assign_before_revoking() -> Iterator[None]:
    """The leader of cooperative members assigns partitions to their new owners at once."""

    def assign(assignor: Assignor, *rest: Any) -> tuple[tuple[str, bytes], ...]:
        cooperates = assignor.name == "cooperative-sticky"
        return leader.assign(find("range", Side.CLIENT, assignor.leader) if cooperates else assignor, *rest)

    with mock.patch.object(classic_rebalance, "assign", assign):
        yield


@contextmanager
def _answer_before_append() -> Iterator[None]:
    """The coordinator answers first: an answer survives a crash in which its records are lost."""
    with mock.patch.object(CoordinatorNode, "answers_survive", True):
        yield


@contextmanager
def _cooperate_under_both_lists() -> Iterator[None]:
    """A member cooperates if one of its assignors can, not only if all can: one bounce instead of two."""

    def protocol(names: Sequence[str], library: Leader | None = None) -> RebalanceProtocol:
        if "cooperative-sticky" in names:
            return RebalanceProtocol.COOPERATIVE
        return rebalance_protocol(names, library)

    with mock.patch.object(classic_rebalance, "rebalance_protocol", protocol):
        yield


BROKEN_RULES: Mapping[str, Callable[[], AbstractContextManager[None]]] = {
    "withhold-owned": _assign_owned_partitions,
    "revoke-before-acknowledge": _treat_as_revoked,
    "previous-epoch-check": _accept_any_report,
    "revoke-before-assign": _assign_before_revoking,
    "append-before-answer": _answer_before_append,
    "two-bounces": _cooperate_under_both_lists,
}
"""The context that switches a rule off, by the rule's name."""


def without_rule(name: str | None) -> AbstractContextManager[None]:
    """The context without a rule; None: with all rules. Raises KeyError: unknown rule."""
    return nullcontext() if name is None else BROKEN_RULES[name]()
