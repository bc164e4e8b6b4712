"""The client-side assignment proposal: coordinator failure at each of its four steps, and its other cases.

1. All members send JoinGroup. 2. Generation metadata is persisted. 3. All members send SyncGroup. 4. Sync metadata is
persisted. Kafka persists steps 2 and 4 as one record, when the leader has synced: what the proposal keeps after step 2
is lost in Kafka, and members find their way back by rejoining, as the proposal has them do without persistence.
"""

from __future__ import annotations

from coordinator.engine.classic.rebalance import SyncGroupAnswer
from tests.coordinator.engine.classic import Member, described, protocols, stable, state, together
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode

UNKNOWN, ILLEGAL, REBALANCING = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
)


def rejoin(*members: Member) -> list[Member]:
    """All members start over as clients do whose id is not known any more."""
    for member in members:
        member.id, member.generation = "", -1
    return stable(members[0].driver, *members)


def test_step_1_the_coordinator_fails_before_all_members_have_joined(driver: Driver) -> None:
    a, b = stable(driver, Member(driver), Member(driver))
    b.protocols = protocols("range", topics=("t1", "t2"))
    b.join()
    assert (b.waits(), state(driver)) == (True, "PreparingRebalance")
    driver.restart()
    # The generation before is what was persisted; all members resend their JoinGroup, and continue from there.
    assert (state(driver), a.heartbeat()) == ("Stable", ErrorCode.NONE)
    b.join()
    assert a.heartbeat() is REBALANCING
    a.join()
    before = a.generation
    assert a.joined().generation == b.joined().generation == before + 1


def test_step_1_of_a_new_group_its_members_are_forgotten(driver: Driver) -> None:
    a = Member(driver).join()
    driver.restart()
    assert (state(driver), described(driver).members) == ("Empty", ())
    assert a.join().joined().error is UNKNOWN
    assert [member.generation for member in rejoin(a)] == [1]


def test_step_2_it_fails_before_any_member_has_synced(driver: Driver) -> None:
    leader, follower = together(driver, Member(driver), Member(driver))
    driver.restart()
    # Kafka has not persisted the generation: a SyncGroup of it is refused, and the members rejoin.
    assert leader.synced({leader.id: b"x"}).error is UNKNOWN
    assert follower.heartbeat() is UNKNOWN
    again = rejoin(leader, follower)
    assert {member.generation for member in again} == {again[0].generation}


def test_step_2_a_join_aborts_the_synchronization_of_the_others(driver: Driver) -> None:
    leader, follower = together(driver, Member(driver), Member(driver))
    parked = follower.sync()
    leader.protocols = protocols("range", topics=("t2",))
    leader.join()
    assert driver.answer(parked, SyncGroupAnswer).error is REBALANCING
    assert follower.heartbeat() is REBALANCING
    follower.join()
    assert leader.joined().generation == follower.joined().generation


def test_step_3_it_fails_while_members_wait_for_the_leaders_assignment(driver: Driver) -> None:
    members = stable(driver, Member(driver), Member(driver))
    first = members[0].generation
    members[1].protocols = protocols("range", topics=("t1", "t2"))
    leader, follower = together(driver, *members)
    assert leader.generation > first
    follower.sync()
    driver.restart()
    # Both send SyncGroup again, for a generation that no record tells of.
    assert [one.synced({one.id: b"x"}).error for one in (leader, follower)] == [ILLEGAL, ILLEGAL]
    assert state(driver) == "Stable"


def test_step_4_it_fails_before_all_members_have_their_assignment(driver: Driver) -> None:
    leader, follower = together(driver, Member(driver), Member(driver))
    leader.sync({leader.id: b"mine", follower.id: b"yours"})
    driver.restart()
    # The state is persisted: a member that syncs now is answered at once, and no other has to do anything.
    assert follower.synced() == SyncGroupAnswer(
        error=ErrorCode.NONE, protocol_type="consumer", protocol="range", assignment=b"yours"
    )
    assert leader.synced().assignment == b"mine"
    assert (leader.heartbeat(), follower.heartbeat()) == (ErrorCode.NONE, ErrorCode.NONE)


def test_the_leader_fails(driver: Driver) -> None:
    leader, *others = stable(driver, Member(driver), Member(driver), Member(driver))
    for _ in range(3):
        driver.advance(4_000)
        answers = [member.heartbeat() for member in others]
    # Its session has ended; the others must rejoin, which elects a new leader.
    assert answers == [REBALANCING, REBALANCING]
    for member in others:
        member.join()
    elected = {member.joined().leader for member in others}
    assert len(elected) == 1
    assert elected <= {member.id for member in others}
    assert leader.heartbeat() is UNKNOWN


def test_a_member_changes_its_subscription(driver: Driver) -> None:
    leader, follower = stable(driver, Member(driver), Member(driver))
    follower.protocols = protocols("range", topics=("t2",))
    follower.join()
    assert leader.heartbeat() is REBALANCING
    leader.join()
    subscriptions = {one.member: one.subscription for one in leader.joined().members}
    assert subscriptions[follower.joined().member] == follower.protocols[0].metadata


def test_topic_metadata_change(driver: Driver) -> None:
    leader, follower = stable(driver, Member(driver), Member(driver))
    # The leader watches the topics. Kafka has it rejoin, unchanged, where the proposal has it sync.
    leader.join()
    assert state(driver) == "PreparingRebalance"
    assert follower.heartbeat() is REBALANCING
    follower.join()
    assert leader.joined().generation == follower.joined().generation
    assert leader.synced({leader.id: b"more"}).assignment == b"more"
