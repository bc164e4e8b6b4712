"""Client-side assignors under the consumer protocol (KIP-848), which Kafka never shipped."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.consumer.client_assignment import (
    InstallAssignment,
    InstallAssignmentAnswer,
    PrepareAssignment,
    PrepareAssignmentAnswer,
)
from coordinator.engine.engine import Engine
from coordinator.engine.groups import DescribeGroups, DescribeGroupsAnswer
from coordinator.engine.records import ClientAssignor, ClientMetadata, JoinProtocol
from tests.coordinator.engine.consumer import Consumer, described_group, epochs, images, settled, targets
from tests.coordinator.engine.driver import Driver
from tests.coordinator.engine.migrating import ClassicConsumer, classic_group
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import EmbeddedSubscription, read_assignment, write_subscription

NONE, INVALID = ErrorCode.NONE, ErrorCode.INVALID_ASSIGNMENT
VERSIONS = "The versions of the assignor mine are invalid."
MINE = ClientAssignor(name="mine", maximum_version=2, metadata=ClientMetadata(version=1, data=b"hello"))


@pytest.fixture
def driver() -> Driver:
    return Driver(images(("foo", 4)), group_consumer_client_assignors_enable="true")


def foo(driver: Driver) -> UUID:
    return driver.engine.topics.topics["foo"].id


def join(driver: Driver, name: str, *assignors: ClientAssignor, timeout: int = 5_000) -> Consumer:
    consumer = Consumer(driver, name, rebalance_timeout_ms=timeout)
    assert consumer.join(client_assignors=assignors or (MINE,)).error == NONE
    return consumer


def pair(driver: Driver) -> tuple[Consumer, Consumer]:
    """The members a and b, first the one that is to compute."""
    a, b = join(driver, "a"), join(driver, "b")
    return (a, b) if a.beat().should_compute else (b, a)


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


def alone(driver: Driver, sent: bytes = b"", instance: str | None = None) -> Consumer:
    """The member a at epoch 2, and what its own assignor said to it."""
    a = Consumer(driver, "a", instance=instance)
    a.join(client_assignors=(MINE,))
    prepare(a)
    assert install(a, 2, {"a": (0, 1, 2, 3)}, metadata={"a": ClientMetadata(data=sent)}).error == NONE
    a.beat()
    return a


def settled_pair(driver: Driver) -> tuple[Consumer, Consumer]:
    """Two members, each with half of the partitions, at epoch 3."""
    chosen, other = pair(driver)
    prepare(chosen)
    assert install(chosen, 3, {"a": (0, 1), "b": (2, 3)}).error == NONE
    a, b = sorted((chosen, other), key=lambda member: member.id)
    settled(a, b)
    assert epochs(driver) == ("Stable", 3, 3)
    return a, b


@pytest.mark.parametrize(
    ("enabled", "changes", "fields", "message"),
    [
        ("false", {}, {}, "ClientAssignors are not enabled (group.consumer.client.assignors.enable)."),
        ("true", {}, {"assignor": "range"}, "ServerAssignor and ClientAssignors cannot be used together."),
        ("true", {"name": " "}, {}, "Assignor.Name can't be empty."),
        ("true", {"minimum_version": -2}, {}, VERSIONS),
        ("true", {"minimum_version": 2, "maximum_version": 1}, {}, VERSIONS),
        ("true", {"maximum_version": 0}, {}, VERSIONS),
    ],
)
def test_a_request_with_invalid_assignors_is_refused(
    enabled: str, changes: dict[str, Any], fields: dict[str, Any], message: str
) -> None:
    driver = Driver(group_consumer_client_assignors_enable=enabled)
    answer = Consumer(driver, "a").join(client_assignors=(replace(MINE, **changes),), **fields)
    assert (answer.error, answer.message) == (ErrorCode.INVALID_REQUEST, message)


def test_a_member_computes_for_the_group(driver: Driver) -> None:
    a = Consumer(driver, "a")
    answer = a.join(client_assignors=(MINE,))
    assert (answer.epoch, answer.assignment, answer.should_compute) == (1, {}, True)
    assert epochs(driver) == ("Assigning", 2, 1)

    prepared = prepare(a)
    assert (prepared.group_epoch, prepared.assignor) == (2, "mine")
    assert prepared.topics == ((foo(driver), "foo", 4),)
    (member,) = prepared.members
    assert (member.id, prepared.subscribed) == ("a", {"a": (foo(driver),)})
    assert (prepared.assignors, prepared.targets) == ({"a": MINE}, {"a": {}})
    assert not a.beat().should_compute

    sent = ClientMetadata(version=1, data=b"you")
    assert install(a, 2, {"a": (0, 1, 2, 3)}, metadata={"a": sent}).error == NONE
    answer = a.beat()
    assert (answer.epoch, a.owned, answer.metadata) == (2, {"foo": [0, 1, 2, 3]}, sent)
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


def test_only_a_member_that_can_read_the_others_is_chosen(driver: Driver) -> None:
    old = join(driver, "old", replace(MINE, maximum_version=1))
    new = Consumer(driver, "new")
    answer = new.join(client_assignors=(replace(MINE, metadata=ClientMetadata(version=2)),))
    assert answer.should_compute
    assert not old.beat().should_compute
    assert prepare(old).error is ErrorCode.UNKNOWN_MEMBER_ID
    assert prepare(new).error == NONE


@pytest.mark.parametrize(
    ("assignments", "why"),
    [
        ({"a": (0, 1, 2)}, "not all partitions are assigned"),
        ({"a": (0, 1, 2, 3, 3)}, "a partition is assigned twice"),
        ({"a": (0, 1, 2, 3), "stranger": ()}, "stranger is not a member of the group"),
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
    assert install(a, 2, {"a": (0, 1, 2, 3)}).error == NONE


def test_who_may_prepare_and_install(driver: Driver) -> None:
    chosen, other = pair(driver)
    assert prepare(chosen, group="other").error is ErrorCode.GROUP_ID_NOT_FOUND
    assert prepare(chosen, member="other").error is ErrorCode.UNKNOWN_MEMBER_ID
    assert prepare(chosen, member="").error is ErrorCode.INVALID_REQUEST
    assert prepare(chosen, epoch=7).error is ErrorCode.STALE_MEMBER_EPOCH
    assert prepare(other).error is ErrorCode.UNKNOWN_MEMBER_ID
    assert install(chosen, 3, {}).error is INVALID
    prepare(chosen)
    assert install(chosen, 2, {}).error is INVALID
    assert install(chosen, 3, {"a": (0, 1), "b": (2, 3)}, epoch=7).error is ErrorCode.STALE_MEMBER_EPOCH
    assert install(chosen, 3, {"a": (0, 1), "b": (2, 3)}).error == NONE
    assert install(chosen, 3, {"a": (0, 1), "b": (2, 3)}).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_another_member_computes_when_the_chosen_one_times_out(driver: Driver) -> None:
    first, second = pair(driver)
    driver.advance(4_999)
    assert not second.beat().should_compute
    driver.advance(1)
    assert second.beat().should_compute
    assert not first.beat().should_compute
    assert prepare(first).error is ErrorCode.UNKNOWN_MEMBER_ID
    driver.advance(5_000)
    assert first.beat().should_compute


@pytest.mark.parametrize("assignment", [{}, {"a": (0, 1)}])
def test_the_error_of_an_assignor_is_passed_on_to_all_members(
    driver: Driver, assignment: dict[str, tuple[int, ...]]
) -> None:
    a, b = settled_pair(driver)
    c = join(driver, "c")
    prepare(c)
    assert install(c, 4, assignment, error=2).error == NONE
    assert driver.engine.state.groups["g"].state.value == "Reconciling"
    for member in (a, b):
        answer = member.beat()
        while answer.epoch < 4:
            assert answer.assignment_error == 0
            answer = member.beat()
        assert (answer.epoch, answer.assignment_error, answer.should_compute) == (4, 2, False)
        assert answer.assignment is not None
        assert (member.beat().assignment, member.beat().assignment_error) == (None, 0)


def test_an_error_does_not_excuse_an_invalid_assignment(driver: Driver) -> None:
    a = join(driver, "a")
    prepare(a)
    assert install(a, 2, {"a": (0, 0)}, error=1).error is INVALID
    assert install(a, 2, {"b": (0,)}, error=1).error is INVALID
    assert install(a, 2, {"a": (4,)}, error=1).error is INVALID


def test_metadata_wait_for_the_epoch_that_they_belong_to(driver: Driver) -> None:
    a = alone(driver, b"old")
    b = join(driver, "b")
    chosen = next(candidate for candidate in (a, b) if candidate.beat().should_compute)
    prepare(chosen)
    install(chosen, 3, {"a": (0, 1), "b": (2, 3)}, metadata={"a": ClientMetadata(data=b"new")})
    answer = a.beat()
    assert (answer.epoch, a.owned, answer.metadata) == (2, {"foo": [0, 1]}, ClientMetadata(data=b"old"))
    answer = a.beat()
    assert (answer.epoch, answer.metadata) == (3, ClientMetadata(data=b"new"))


def test_what_an_assignor_said_ends_with_an_assignment_of_the_coordinator(driver: Driver) -> None:
    a = alone(driver, b"old")
    answer = a.beat(client_assignors=(), topics=("foo", "bar"))
    assert (answer.epoch, answer.assignment is None, answer.metadata) == (3, False, None)


def test_a_static_member_that_is_replaced_leaves_its_metadata_behind(driver: Driver) -> None:
    a = alone(driver, b"mine", instance="i")
    a.leave(-2)
    answer = Consumer(driver, "a2", instance="i").join(client_assignors=(MINE,))
    assert (answer.epoch, answer.metadata) == (2, ClientMetadata(data=b"mine"))


def saying(data: bytes) -> JoinProtocol:
    """The protocol of a classic member whose assignor says something to the others."""
    metadata = write_subscription(EmbeddedSubscription(version=1, topics=("foo",), user_data=data))
    return JoinProtocol(name="mine", metadata=metadata)


OLD_AND_NEW = replace(MINE, minimum_version=-1)


def test_user_data_of_a_classic_member_is_its_assignor_metadata(driver: Driver) -> None:
    a = Consumer(driver, "a")
    a.join(client_assignors=(OLD_AND_NEW,))
    x = ClassicConsumer(driver, "x", names=("mine",), protocol="mine")
    joining = replace(x.join_request(), protocols=(saying(b"from x"),))
    x.generation = driver.ask(joining, JoinGroupAnswer).generation
    a.beat()
    prepared = prepare(a)
    said = {member: assignor.metadata for member, assignor in prepared.assignors.items()}
    assert said["x"] == ClientMetadata(version=-1, data=b"from x")
    answer = {"x": ClientMetadata(version=-1, data=b"to x")}
    assert install(a, prepared.group_epoch, {"a": (0,), "x": (1, 2, 3)}, metadata=answer).error == NONE
    assert x.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    x.generation = driver.ask(joining, JoinGroupAnswer).generation
    assert (x.sync(), x.sync(), x.user_data) == (NONE, NONE, b"to x")


def test_an_assignor_that_cannot_read_classic_metadata_is_refused(driver: Driver) -> None:
    a = Consumer(driver, "a")
    a.join(client_assignors=(OLD_AND_NEW,))
    x = ClassicConsumer(driver, "x", names=("mine",))
    driver.ask(x.join_request(), JoinGroupAnswer)
    join(driver, "b", MINE)
    driver.ask(replace(x.join_request(), protocols=(saying(b"from x"),)), JoinGroupAnswer)
    c = Consumer(driver, "c")
    answer = c.join(client_assignors=(MINE,))
    assert (answer.error, answer.message) == (
        ErrorCode.INVALID_REQUEST,
        "The assignor mine must support version -1: members of the classic protocol use it.",
    )
    assert "c" not in {member.id for member in described_group(driver).members}
    assert c.join(client_assignors=(OLD_AND_NEW,)).error == NONE


def test_an_upgrade_keeps_what_a_custom_assignor_said(driver: Driver) -> None:
    x = ClassicConsumer(driver, "x", names=("mine",), owned={"foo": [0, 1, 2, 3]})
    classic_group(driver, 5, x, user_data=b"from the leader")
    Consumer(driver, "a").join(client_assignors=(OLD_AND_NEW,))
    assert (x.sync(), x.user_data) == (NONE, b"from the leader")


def test_a_downgrade_hands_on_what_an_assignor_said(driver: Driver) -> None:
    a = Consumer(driver, "a")
    a.join(client_assignors=(OLD_AND_NEW,))
    x = ClassicConsumer(driver, "x", names=("mine",))
    x.join()
    a.beat()
    answer = {"x": ClientMetadata(version=-1, data=b"to x")}
    install(a, prepare(a).group_epoch, {"a": (0,), "x": (1, 2, 3)}, metadata=answer)
    a.leave()
    (shown,) = driver.ask(DescribeGroups(groups=("g",)), DescribeGroupsAnswer).groups
    assignment = read_assignment(shown.members[0].assignment)
    assert (assignment.partitions, assignment.user_data) == ({"foo": (1, 2, 3)}, b"to x")


def test_the_chosen_member_leaves_and_rejoins_before_another_is_asked(driver: Driver) -> None:
    first, second = pair(driver)
    prepare(first)
    first.leave()
    assert first.join(client_assignors=(MINE,)).should_compute or second.beat().should_compute


def test_the_group_moves_on_while_the_assignment_is_computed(driver: Driver) -> None:
    a = join(driver, "a")
    prepare(a)
    b = join(driver, "b")
    assert install(a, 2, {"a": (0, 1, 2, 3)}).error == NONE
    assert epochs(driver) == ("Assigning", 3, 2)
    assert targets(driver) == {"a": {"foo": [0, 1, 2, 3]}, "b": {}}
    answers = [a.beat(), b.beat()]
    assert [answer.epoch for answer in answers] == [2, 2]
    assert [answer.should_compute for answer in answers].count(True) == 1


def test_a_member_is_asked_again_after_a_restart(driver: Driver) -> None:
    a = join(driver, "a")
    prepare(a)
    driver.restart()
    assert a.beat().should_compute
    assert install(a, 2, {"a": (0, 1, 2, 3)}).error is INVALID
    prepare(a)
    said = ClientMetadata(version=1, data=b"you")
    assert install(a, 2, {"a": (0, 1, 2, 3)}, metadata={"a": said}).error == NONE
    driver.restart()
    assert (a.beat().metadata, a.owned) == (said, {"foo": [0, 1, 2, 3]})
    driver.restart()
    rejoined = a.join(client_assignors=(MINE,))
    assert (rejoined.epoch, rejoined.metadata) == (2, said)
    assert epochs(driver) == ("Stable", 2, 2)


def test_the_coordinator_computes_where_the_setting_is_taken_away(driver: Driver) -> None:
    a = join(driver, "a")
    driver.engine = Engine(
        replace(driver.engine.config, group_consumer_client_assignors_enable=False), driver.engine.topics
    )
    for record in driver.records:
        driver.engine.replay(record)
    driver.take(driver.engine.loaded(driver.now_ms))
    answer = a.beat()
    assert (answer.epoch, answer.should_compute) == (2, False)
    assert described_group(driver).protocol == "uniform"


def test_a_reason_asks_for_an_assignment_each_time_it_is_sent(driver: Driver) -> None:
    a = alone(driver)
    because = (replace(MINE, reason=1),)
    for epoch in (3, 4):
        assert a.beat(client_assignors=because).should_compute
        assert epochs(driver) == ("Assigning", epoch, epoch - 1)
        prepare(a)
        assert install(a, epoch, {"a": (0, 1, 2, 3)}).error == NONE
        assert a.beat().epoch == epoch
    assert not a.beat(client_assignors=(MINE,)).should_compute
    assert epochs(driver) == ("Stable", 4, 4)


def test_describe_shows_the_assignor_that_members_compute_with(driver: Driver) -> None:
    a = join(driver, "a")
    assert described_group(driver).protocol == "mine"
    b = Consumer(driver, "b")
    b.join()
    assert described_group(driver).protocol == "uniform"
    b.leave()
    assert described_group(driver).protocol == "mine"
    a.leave()
    assert described_group(driver).protocol == "uniform"


APART = replace(MINE, minimum_version=2, maximum_version=2, metadata=ClientMetadata(version=2))
FIRST = replace(MINE, maximum_version=0, metadata=ClientMetadata())
BOTH = replace(MINE, metadata=ClientMetadata(version=2))
UNSUPPORTED = (
    ErrorCode.UNSUPPORTED_ASSIGNOR,
    "The version range of the assignor mine is not supported by the group.",
)


def test_a_joiner_after_which_no_member_can_compute_is_refused(driver: Driver) -> None:
    a = join(driver, "a", FIRST)
    before = len(driver.records)
    b = Consumer(driver, "b")
    answer = b.join(client_assignors=(APART,))
    assert (answer.error, answer.message) == UNSUPPORTED
    assert (len(driver.records), a.beat().should_compute) == (before, True)
    assert b.join(client_assignors=(BOTH,)).error == NONE
    assert b.beat().should_compute


def test_an_update_after_which_no_member_can_compute_is_refused(driver: Driver) -> None:
    join(driver, "a", FIRST)
    b = join(driver, "b", BOTH)
    assert b.refused(client_assignors=(APART,)) == UNSUPPORTED
    assert b.beat(client_assignors=(FIRST,)).error == NONE
    # An assignor that not all members have is not in use, whatever its versions.
    assert b.beat(client_assignors=(replace(APART, name="other"),)).error == NONE
    assert described_group(driver).protocol == "uniform"


def test_no_member_is_refused_because_another_left(driver: Driver) -> None:
    a, reader = join(driver, "a", FIRST), join(driver, "reader", BOTH)
    b = join(driver, "b", APART)
    reader.leave()
    assert described_group(driver).protocol == "uniform"
    assert a.beat(client_assignors=(FIRST,)).error == NONE
    assert b.join(client_assignors=(APART,)).error == NONE
