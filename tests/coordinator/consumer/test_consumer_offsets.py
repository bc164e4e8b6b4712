"""What a member of the consumer protocol commits and fetches offsets with (consumer.md C1–C6, K8, K12)."""

from typing import Any

import pytest

from coordinator.consumer.outputs import TopicPartition
from coordinator.engine.offsets.commit import OffsetCommit
from coordinator.engine.offsets.fetch import OffsetFetch
from tests.coordinator.consumer.consumer_members import start
from tests.coordinator.consumer.driver import Application, Play
from wire.errors import ErrorCode

FOO = [TopicPartition("foo", number) for number in range(6)]


def alone(**config: Any) -> tuple[Play, Application]:
    play = Play()
    a = start(play, "a", **config)
    for number, partition in enumerate(FOO):
        a.positions[partition] = 10 + number
    a.sent, a.committed, a.callbacks = [], [], []
    return play, a


def commits(application: Application) -> list[tuple[int, dict[int, int]]]:
    """Epoch and offsets by partition of each commit sent since this was last asked."""
    sent = application.requests(OffsetCommit)
    application.sent.clear()
    return [
        (commit.generation_or_epoch, {offset.partition: offset.offset for offset in commit.offsets})
        for commit in sent
    ]


def _commits_for_20_s(library: str) -> tuple[Play, Application]:
    """Every five seconds, and no commit is answered."""
    play, a = alone(library=library)
    a.hold(OffsetCommit)
    play.advance(20_000)
    return play, a


def test_an_automatic_commit_waits_for_the_last_one() -> None:
    play, a = _commits_for_20_s("java")
    assert len(commits(a)) == 1
    a.positions[FOO[0]] = 99
    play.release(a)
    ((_, offsets),) = commits(a)
    assert offsets[0] == 99
    play.advance(5_000)
    assert len(commits(a)) == 1


def test_an_auto_commit_follows_a_lost_one_after_the_backoff() -> None:
    play, a = _commits_for_20_s("java")
    commits(a)
    play.lose(a, answered=False)
    assert commits(a) == []
    play.advance(100)
    assert len(commits(a)) == 1


def test_librdkafka_commits_at_each_interval() -> None:
    _, a = _commits_for_20_s("librdkafka")
    assert len(commits(a)) == 4


def test_a_reconciliation_continues_although_its_commit_fails() -> None:
    play, a = alone(auto_commit_interval_ms=60_000)
    start(play, "b")
    play.refuse(OffsetCommit, ErrorCode.OFFSET_METADATA_TOO_LARGE, 1)
    play.advance(5_000)
    assert a.committed[-1].error == "OffsetMetadataTooLarge"
    assert (a.calls()[0], a.raised) == (("revoked", ["foo-3", "foo-4", "foo-5"]), [])


@pytest.mark.parametrize(
    "code", [ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR]
)
def test_the_commit_of_a_reconciliation_is_tried_again(code: ErrorCode) -> None:
    play, a = alone(auto_commit_interval_ms=60_000)
    start(play, "b")
    play.refuse(OffsetCommit, code, 3)
    play.advance(5_000)
    assert a.calls() == []
    play.advance(1_000)
    assert len(commits(a)) == 4
    assert a.calls()[0] == ("revoked", ["foo-3", "foo-4", "foo-5"])


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (ErrorCode.STALE_MEMBER_EPOCH, "CommitFailedException"),
        (ErrorCode.UNKNOWN_MEMBER_ID, "CommitFailedException"),
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, "GroupAuthorizationException"),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, "TopicAuthorizationException"),
        (ErrorCode.INVALID_COMMIT_OFFSET_SIZE, "KafkaException"),
    ],
)
def test_a_commit_of_the_application_that_is_refused_throws(code: ErrorCode, error: str) -> None:
    play, a = alone(enable_auto_commit=False)
    play.pause(a)
    play.refuse(OffsetCommit, code, 1)
    a.member.commit(play.now_ms)
    play.run()
    assert a.raised == [error]
    play.resume(a)
    play.rest()
    assert a.calls() == []


def test_a_commit_in_lost_fails() -> None:
    play, a = alone(enable_auto_commit=False, max_poll_interval_ms=10_000)
    start(play, "b")
    play.rest()
    play.pause(a)
    play.rest()
    a.listener["lost"].takes_ms = 1_000
    play.resume(a)
    a.member.commit(play.now_ms)
    play.run()
    assert [output.error for output in a.committed] == ["CommitFailedException"]


def test_positions_at_a_stale_epoch_are_looked_up_again() -> None:
    play = Play()
    play.refuse(OffsetFetch, ErrorCode.STALE_MEMBER_EPOCH, 1)
    a = start(play, "a")
    assert a.fetches == []
    play.advance(100)
    assert (len(a.fetches), a.raised) == (6, [])


def test_no_position_is_looked_up_for_revoked_partitions() -> None:
    play = Play()
    play.refuse(OffsetFetch, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    a = start(play, "a")
    a.positions[FOO[0]] = 1
    start(play, "b")
    a.hold(OffsetCommit)
    play.advance(5_000)
    assert a.held
    a.sent.clear()
    play.accept()
    play.advance(400)
    assert {fetch.groups[0].topics for fetch in a.requests(OffsetFetch)} == {(("foo", (0, 1, 2)),)}


def test_positions_of_a_member_that_is_unknown_throw() -> None:
    play = Play()
    play.refuse(OffsetFetch, ErrorCode.UNKNOWN_MEMBER_ID)
    a = start(play, "a", enable_auto_commit=False)
    assert a.raised == ["UnknownMemberIdException"]
    play.accept()
    play.rest()
    assert (len(a.fetches), len(a.raised)) == (6, 1)


def _asks_while_it_looks_up(library: str, code: ErrorCode) -> tuple[Play, Application]:
    """The application asks for what is committed while positions are looked up, and that is refused once."""
    play = Play()
    a = start(play, "a", library=library, enable_auto_commit=False)
    b = start(play, "b", library=library, enable_auto_commit=False)
    b.hold(OffsetFetch)
    play.rest()
    assert (len(b.owns), b.fetches, len(a.owns)) == (3, [], 3)
    b.sent.clear()
    b.member.committed(play.now_ms)
    assert b.requests(OffsetFetch) == []
    play.refuse(OffsetFetch, code, 1)
    play.release(b)
    return play, b


@pytest.mark.parametrize("code", [ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS])
def test_committed_shares_the_fetch_of_positions_and_its_retry(code: ErrorCode) -> None:
    play, b = _asks_while_it_looks_up("java", code)
    assert (b.requests(OffsetFetch), b.member.in_poll) == ([], False)
    play.advance(100)
    assert len(b.requests(OffsetFetch)) == 1
    assert (len(b.fetches), b.member.in_poll, b.raised) == (3, True, [])


@pytest.mark.parametrize("code", [ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS])
def test_until_4_3_a_retried_shared_fetch_was_never_answered(code: ErrorCode) -> None:
    play, b = _asks_while_it_looks_up("java-4.3", code)
    play.advance(59_000)
    assert (b.requests(OffsetFetch), b.fetches, b.raised) == ([], [], [])
    play.advance(2_000)
    assert (len(b.fetches), b.raised) == (3, ["TimeoutException"])


def test_until_4_3_an_answer_that_is_not_retried_ends_both() -> None:
    _, b = _asks_while_it_looks_up("java-4.3", ErrorCode.UNKNOWN_MEMBER_ID)
    assert b.raised == ["UnknownMemberIdException"]


def test_committed_asks_for_all_that_is_owned() -> None:
    play, a = alone()
    a.member.committed(play.now_ms)
    play.run()
    (fetch,) = a.requests(OffsetFetch)
    assert fetch.groups[0].topics == (("foo", (0, 1, 2, 3, 4, 5)),)
    assert (a.member.in_poll, a.raised) == (True, [])


def test_committed_is_given_up_after_a_minute() -> None:
    play, a = alone()
    a.hold(OffsetFetch)
    a.member.committed(play.now_ms)
    play.advance(59_000)
    assert a.raised == []
    play.advance(2_000)
    assert a.raised == ["TimeoutException"]
