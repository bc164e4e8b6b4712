"""Client-side assignors under the consumer protocol (KIP-848), which Kafka never shipped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from coordinator.broker.answers import InstallAssignmentAnswer, PrepareAssignmentAnswer
from coordinator.broker.calls import ClientAssignor, ClientMetadata, InstallAssignment, PrepareAssignment
from coordinator.broker.errors import ErrorCode
from tests.coordinator.broker.consumer import Consumer, epochs, images, targets
from tests.coordinator.broker.driver import Driver
from tests.coordinator.broker.migrating import ClassicConsumer

NONE, INVALID = ErrorCode.NONE, ErrorCode.INVALID_ASSIGNMENT
MINE = ClientAssignor(name="mine", maximum_version=2, metadata=ClientMetadata(version=1, data=b"hello"))


@pytest.fixture
def driver() -> Driver:
    return Driver(
        images(("foo", 4)),
        group_consumer_assignment_interval_ms="0",
        group_consumer_client_assignors_enable="true",
    )


def foo(driver: Driver) -> UUID:
    return driver.engine.topics.topics["foo"].id


def join(driver: Driver, name: str, *assignors: ClientAssignor, timeout: int = 5_000) -> Consumer:
    consumer = Consumer(driver, name, rebalance_timeout_ms=timeout)
    assert consumer.join(client_assignors=assignors or (MINE,)).error is NONE
    return consumer


def prepare(consumer: Consumer, **changes: Any) -> PrepareAssignmentAnswer:
    request = PrepareAssignment(group="g", member=consumer.id, epoch=consumer.epoch)
    return consumer.driver.ask(replace(request, **changes), PrepareAssignmentAnswer)


def install(
    consumer: Consumer, group_epoch: int, assignments: dict[str, tuple[int, ...]], **changes: Any
) -> InstallAssignmentAnswer:
    request = InstallAssignment(
        group="g",
        member=consumer.id,
        epoch=consumer.epoch,
        group_epoch=group_epoch,
        assignments={member: {foo(consumer.driver): numbers} for member, numbers in assignments.items()},
    )
    return consumer.driver.ask(replace(request, **changes), InstallAssignmentAnswer)


def test_they_are_off_unless_enabled() -> None:
    driver = Driver(images(("foo", 4)))
    code, message = Consumer(driver, "a").refused(
        epoch=0, rebalance_timeout_ms=1, topics=("foo",), client_assignors=(MINE,)
    )
    assert code is ErrorCode.INVALID_REQUEST
    assert message == "ClientAssignors are not enabled (group.consumer.client.assignors.enable)."


@pytest.mark.parametrize(
    "assignor",
    [
        replace(MINE, name=" "),
        replace(MINE, minimum_version=-2),
        replace(MINE, minimum_version=2, maximum_version=1),
        replace(MINE, maximum_version=0),
    ],
)
def test_an_assignor_that_makes_no_sense(driver: Driver, assignor: ClientAssignor) -> None:
    answer = Consumer(driver, "a").join(client_assignors=(assignor,))
    assert answer.error is ErrorCode.INVALID_REQUEST


def test_server_and_client_assignors_cannot_be_used_together(driver: Driver) -> None:
    answer = Consumer(driver, "a").join(client_assignors=(MINE,), assignor="range")
    assert (answer.error, answer.message) == (
        ErrorCode.INVALID_REQUEST,
        "ServerAssignor and ClientAssignors cannot be used together.",
    )


def test_a_member_computes_for_the_group(driver: Driver) -> None:
    a = Consumer(driver, "a")
    answer = a.join(client_assignors=(MINE,))
    assert (answer.epoch, answer.assignment, answer.should_compute) == (1, {}, True)
    assert epochs(driver) == ("Assigning", 2, 1)

    prepared = prepare(a)
    assert (prepared.group_epoch, prepared.assignor) == (2, "mine")
    assert prepared.topics == ((foo(driver), "foo", 4),)
    (member,) = prepared.members
    assert (member.member, member.topics, member.assignor, member.target) == ("a", (foo(driver),), MINE, {})
    assert not a.beat().should_compute

    told = ClientMetadata(version=1, data=b"you")
    assert install(a, 2, {"a": (0, 1, 2, 3)}, metadata={"a": told}).error is NONE
    answer = a.beat()
    assert (answer.epoch, a.owned, answer.metadata) == (2, {"foo": [0, 1, 2, 3]}, told)
    assert epochs(driver) == ("Stable", 2, 2)


def test_an_assignor_that_one_member_lacks_is_not_used(driver: Driver) -> None:
    a = join(driver, "a")
    b = Consumer(driver, "b")
    assert b.join().epoch == 3
    assert not a.beat().should_compute
    assert epochs(driver) == ("Stable", 3, 3)
    assert b.beat(client_assignors=(MINE,)).epoch == 3
    assert epochs(driver) == ("Assigning", 4, 3)
    assert a.beat().should_compute or b.beat().should_compute


def test_the_preferred_common_assignor_wins(driver: Driver) -> None:
    other = replace(MINE, name="other")
    a = join(driver, "a", MINE, other)
    join(driver, "b", other)
    a.beat()
    assert prepare(a).assignor == "other"


def test_only_a_member_that_can_read_the_others_is_chosen(driver: Driver) -> None:
    old = join(driver, "old", replace(MINE, maximum_version=1))
    new = Consumer(driver, "new")
    answer = new.join(client_assignors=(replace(MINE, metadata=ClientMetadata(version=2)),))
    assert answer.should_compute
    assert not old.beat().should_compute
    assert prepare(old).error is ErrorCode.UNKNOWN_MEMBER_ID
    assert prepare(new).error is NONE


def test_a_classic_members_metadata_have_version_minus_1(driver: Driver) -> None:
    a = Consumer(driver, "a")
    a.join(client_assignors=(replace(MINE, minimum_version=-1),))
    x = ClassicConsumer(driver, names=("mine",))
    x.join()
    a.beat()
    prepared = prepare(a)
    by_id = {each.member: each.assignor for each in prepared.members}
    assert by_id[x.id].metadata.version == -1
    assert install(a, prepared.group_epoch, {"a": (0,), x.id: (1, 2, 3)}).error is NONE
    assert x.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    x.join()
    assert (x.sync(), x.owned) == (NONE, {"foo": [1, 2, 3]})


@pytest.mark.parametrize(
    ("assignments", "why"),
    [
        ({"a": (0, 1, 2)}, "not all partitions are assigned"),
        ({"a": (0, 1, 2, 3, 3)}, "a partition is assigned twice"),
        ({"a": (0, 1, 2, 3), "nobody": ()}, "nobody is not a member of the group"),
        ({"a": (0, 1, 2, 3, 4)}, "there are partitions that do not exist"),
    ],
)
def test_an_assignment_is_validated(
    driver: Driver, assignments: dict[str, tuple[int, ...]], why: str
) -> None:
    a = join(driver, "a")
    prepare(a)
    records = len(driver.records)
    answer = install(a, 2, assignments)
    assert answer.error is INVALID
    assert answer.message is not None
    assert why in answer.message
    assert len(driver.records) == records
    assert install(a, 2, {"a": (0, 1, 2, 3)}).error is NONE


def test_who_may_prepare_and_install(driver: Driver) -> None:
    a, b = join(driver, "a"), join(driver, "b")
    chosen, other = (a, b) if a.beat().should_compute else (b, a)
    assert prepare(chosen, group="other").error is ErrorCode.GROUP_ID_NOT_FOUND
    assert prepare(chosen, member="other").error is ErrorCode.UNKNOWN_MEMBER_ID
    assert prepare(chosen, member="").error is ErrorCode.INVALID_REQUEST
    assert prepare(chosen, epoch=7).error is ErrorCode.STALE_MEMBER_EPOCH
    assert prepare(other).error is ErrorCode.UNKNOWN_MEMBER_ID
    assert install(chosen, 3, {}).error is INVALID
    prepare(chosen)
    assert install(chosen, 2, {}).error is INVALID
    assert install(chosen, 3, {"a": (0, 1), "b": (2, 3)}, epoch=7).error is ErrorCode.STALE_MEMBER_EPOCH
    assert install(chosen, 3, {"a": (0, 1), "b": (2, 3)}).error is NONE
    assert install(chosen, 3, {"a": (0, 1), "b": (2, 3)}).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_another_member_is_chosen_when_the_first_takes_too_long_and_it_is_not_removed(driver: Driver) -> None:
    a, b = join(driver, "a"), join(driver, "b")
    first, second = (a, b) if a.beat().should_compute else (b, a)
    driver.advance(4_999)
    assert not second.beat().should_compute
    driver.advance(1)
    assert second.beat().should_compute
    assert not first.beat().should_compute
    assert prepare(first).error is ErrorCode.UNKNOWN_MEMBER_ID
    driver.advance(5_000)
    assert first.beat().should_compute


def test_an_assignor_that_fails_has_had_its_turn(driver: Driver) -> None:
    a, b = join(driver, "a"), join(driver, "b")
    first, second = (a, b) if a.beat().should_compute else (b, a)
    prepare(first)
    assert install(first, 3, {}, error=1).error is NONE
    assert not first.beat().should_compute
    assert second.beat().should_compute


def test_the_chosen_member_leaves(driver: Driver) -> None:
    a, b = join(driver, "a"), join(driver, "b")
    first, second = (a, b) if a.beat().should_compute else (b, a)
    first.leave()
    assert second.beat().should_compute


def test_the_group_moves_on_while_the_assignment_is_computed(driver: Driver) -> None:
    a = join(driver, "a")
    prepare(a)
    b = join(driver, "b")
    assert install(a, 2, {"a": (0, 1, 2, 3)}).error is NONE
    assert epochs(driver) == ("Assigning", 3, 2)
    assert targets(driver) == {"a": {"foo": [0, 1, 2, 3]}, "b": {}}
    answers = [a.beat(), b.beat()]
    assert [answer.epoch for answer in answers] == [2, 2]
    assert [answer.should_compute for answer in answers].count(True) == 1


def test_new_metadata_move_the_group_epoch(driver: Driver) -> None:
    a = join(driver, "a")
    prepare(a)
    install(a, 2, {"a": (0, 1, 2, 3)})
    a.beat()
    assert a.beat(client_assignors=(MINE,)).should_compute is False
    answer = a.beat(client_assignors=(replace(MINE, metadata=ClientMetadata(version=1, data=b"new")),))
    assert answer.should_compute
    assert epochs(driver) == ("Assigning", 3, 2)


def test_after_a_restart_the_coordinator_computes_until_members_name_their_assignors_again(
    driver: Driver,
) -> None:
    a = join(driver, "a")
    prepare(a)
    driver.restart()
    assert not a.beat().should_compute
    assert epochs(driver) == ("Stable", 2, 2)
    assert a.beat(client_assignors=(MINE,)).should_compute
