"""The rules of `coordinator.simulation.broken_rules`, each with a world that shows its effect."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from unittest import mock

from coordinator.engine.consumer import heartbeat
from coordinator.engine.consumer.member import ConsumerMember
from coordinator.engine.records import TopicPartitions
from coordinator.errors import RequestRefused
from coordinator.simulation.broken_rules import BROKEN_RULES
from coordinator.simulation.exploration.small_world import SmallWorld
from coordinator.simulation.exploration.state import ExploredState
from coordinator.simulation.exploration.worlds import ExplorationStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A safety rule, the world to try it in, and how it is switched off."""

    name: str
    summary: str
    world: str  # The world in which the shortest path to a violation is found soon
    perturbations: int = 0  # The number of perturbations that are allowed in that world
    breaking: Callable[[], AbstractContextManager[None]]
    must_be_needed: bool = False
    """Whether violations count only after the rule would have applied: others in this world have other causes."""


@contextmanager
def _accept_any_epoch() -> Iterator[None]:
    """The coordinator accepts heartbeats of any earlier epoch, whatever partitions they report."""
    original = heartbeat._check_epoch

    def check(member: ConsumerMember, epoch: int, owned: TopicPartitions | None) -> None:
        try:
            original(member, epoch, owned)
        except RequestRefused:
            ExploredState.rule_was_needed = True

    with mock.patch.object(heartbeat, "_check_epoch", check):
        yield


@contextmanager
def _answer_before_append() -> Iterator[None]:
    """The coordinator answers first: its last records are lost when it fails over."""

    def fail_over(world: SmallWorld, step: ExplorationStep) -> None:
        world.records = world.records[: world.last_append]
        original(world, step)

    original = SmallWorld.fail_over
    with mock.patch.object(SmallWorld, "fail_over", fail_over):
        yield


RULES = {
    rule.name: rule
    for rule in (
        Rule(
            name="withhold-owned",
            summary="A partition is not assigned while another member owns it (KIP-848 Member Reconciliation).",
            world="published",
            breaking=BROKEN_RULES["withhold-owned"],
        ),
        Rule(
            name="revoke-before-acknowledge",
            summary="A partition is released once its member no longer reports it (KIP-848).",
            world="published",
            breaking=BROKEN_RULES["revoke-before-acknowledge"],
        ),
        Rule(
            name="epoch-check",
            perturbations=2,
            summary="A heartbeat of an earlier epoch is fenced, except the previous one without unknown partitions.",
            world="duplicates",
            breaking=_accept_any_epoch,
            must_be_needed=True,
        ),
        Rule(
            name="revoke-before-assign",
            summary="A cooperative leader withholds partitions that must be revoked first (KIP-429).",
            world="cooperative",
            breaking=BROKEN_RULES["revoke-before-assign"],
        ),
        Rule(
            name="append-before-answer",
            perturbations=1,
            summary="An answer is sent after its records are in the log.",
            world="failover",
            breaking=_answer_before_append,
        ),
        Rule(
            name="two-bounces",
            perturbations=1,
            summary="A member cooperates only when all of its assignors can (KIP-429 Upgrade Path).",
            world="half-way",
            breaking=BROKEN_RULES["two-bounces"],
        ),
    )
}
"""By name."""
