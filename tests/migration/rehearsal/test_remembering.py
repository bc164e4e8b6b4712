"""What a rehearsal remembers, or leaves out because it changes nothing: without it the results are the same."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from coordinator.engine.consumer import update
from coordinator.engine.consumer.reconciliation import ReconciliationInput, reconcile
from coordinator.engine.context import Group as EngineGroup
from coordinator.engine.groups import Names
from coordinator.engine.records import CurrentAssignmentValue, MemberState, TopicPartitions
from coordinator.simulation import idle_time
from coordinator.simulation.process import Process
from coordinator.simulation.watcher import Watcher, Watchers
from groups.model import Group
from migration.model import Destination
from migration.rehearsal.plan_run import places
from migration.rehearsal.simulation import Description
from tests.migration.cases import CONSUMER, COOPERATIVE
from tests.migration.rehearsal.groups import PlannedGroup, classic_group, planned
from tests.migration.rehearsal.test_rests import OTHERS, SAMPLE, of_sample
from tests.support.long import LONG

SEEDS = [1, *(pytest.param(seed, marks=LONG) for seed in range(2, 52))]
ELSEWHERE, ORDERS, PAYMENTS = UUID(int=1), UUID(int=2), UUID(int=3)
wake, describe = Process.wake, Description.of


@pytest.fixture
def forgets(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """All observers are asked, every wake-up asks its member, groups are described again, and reconciled at length."""
    monkeypatch.setattr(Watchers, "of", all_of)
    monkeypatch.setattr(Process, "wake", wake_asking)
    monkeypatch.setattr(idle_time, "_RECURRING", idle_time._RECURRING | {wake_asking})
    monkeypatch.setattr(Description, "of", described_again)
    monkeypatch.setattr(update, "reconcile", reconcile_at_length)
    return monkeypatch


def all_of(watchers: Watchers, _event: str) -> Sequence[Watcher]:
    return watchers._all


def wake_asking(process: Process, wake_ms: int) -> None:
    process._deadline_ms = process.member.next_deadline()
    wake(process, wake_ms)


def described_again(description: Description, group: EngineGroup | None, names: Names) -> Group | None:
    return describe(Description(description._name, description._default_assignor), group, names)


def reconcile_at_length(current: CurrentAssignmentValue, goal: ReconciliationInput) -> CurrentAssignmentValue:
    """With a topic in the target that the member does not subscribe to, which it does not get."""
    return reconcile(current, replace(goal, target={**goal.target, ELSEWHERE: (0,)}))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "to"), SAMPLE, ids=[f"{name}-{to.value}" for name, to in SAMPLE])
def test_plans_of_the_sample(name: str, to: Destination, seed: int, forgets: pytest.MonkeyPatch) -> None:
    assert_alike(of_sample(name, to), seed, forgets, there_and_back=False)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("to", [COOPERATIVE, CONSUMER])
@pytest.mark.parametrize(("client", "static"), OTHERS)
def test_other_libraries_there_and_back(
    client: str, static: bool, to: Destination, seed: int, forgets: pytest.MonkeyPatch
) -> None:
    assert_alike(planned(classic_group(client, static=static), to), seed, forgets, there_and_back=True)


@pytest.mark.parametrize("state", MemberState)
@pytest.mark.parametrize("owned", [None, {}])
def test_a_member_that_has_its_target_only_gets_the_epoch(
    state: MemberState, owned: TopicPartitions | None
) -> None:
    target = {ORDERS: (2,), PAYMENTS: (0, 1)}
    current = CurrentAssignmentValue(
        epoch=3,
        previous_epoch=2,
        state=state,
        assigned={PAYMENTS: (0, 1), ORDERS: (2,)},
        assigned_epochs={(PAYMENTS, 0): 1, (PAYMENTS, 1): 3, (ORDERS, 2): 2},
    )
    goal = ReconciliationInput(
        epoch=5, target=target, subscribed=set(target), owned=owned, is_free=lambda *_: False
    )
    if state is MemberState.UNKNOWN and owned is None:
        return  # it is refused
    short, long = reconcile(current, goal), reconcile_at_length(current, goal)
    assert short == long
    assert list(short.assigned) == list(long.assigned)


def assert_alike(
    scene: PlannedGroup, seed: int, forgets: pytest.MonkeyPatch, *, there_and_back: bool
) -> None:
    stop_at = places(scene.plan)[-1] if there_and_back else None
    slow = scene.rehearse(seed, with_story=True, stop_at=stop_at)
    forgets.undo()
    assert scene.rehearse(seed, with_story=True, stop_at=stop_at) == slow
    assert slow.story != ()
