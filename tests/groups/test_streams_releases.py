"""What a release of Kafka Streams and `upgrade.from` decide about a thread."""

import pytest

from groups.streams_releases import ThreadRelease


@pytest.mark.parametrize(
    ("release", "upgrade_from", "newest", "sent", "is_eager"),
    [
        ("0.10.0.1", None, 1, 1, True),
        ("1.1", None, 2, 2, True),
        ("2.0.1", None, 3, 3, True),
        ("2.3.1", None, 4, 4, True),
        ("2.3.1", "1.1", 4, 2, True),
        ("2.4.1", None, 5, 5, False),
        ("2.4.1", "2.3", 5, 5, True),
        ("2.6.0", None, 7, 7, False),
        ("2.6.1", None, 8, 8, False),
        ("2.8.2", "1.1", 9, 2, True),
        ("2.8.2", "0.10.0", 9, 1, True),
        ("3.9.1", "2.3", 11, 11, True),
        ("3.9.1", "3.4", 11, 11, False),
        ("4.4.0", "2.4", 11, 11, False),
        (None, None, 11, 11, False),
    ],
)
def test_versions_and_protocol_follow_from_the_release(
    release: str | None, upgrade_from: str | None, newest: int, sent: int, is_eager: bool
) -> None:
    thread = ThreadRelease.of(release, upgrade_from)
    assert (thread.newest, thread.sent, thread.is_eager) == (newest, sent, is_eager)


@pytest.mark.parametrize(
    ("release", "upgrade_from"),
    [("4.0", "2.3"), (None, "2.3"), ("2.3.1", "2.3"), ("2.3.1", "2.0"), ("3.4.0", "3.4")],
)
def test_a_release_refuses_to_start_with_some_upgrade_from(release: str | None, upgrade_from: str) -> None:
    with pytest.raises(ValueError, match=f"does not start with upgrade.from={upgrade_from}"):
        ThreadRelease.of(release, upgrade_from)


@pytest.mark.parametrize("release", ["", "3", "3.x", "3.9.1-rc1", "3..9", "٣.9", "3.1234", "-1.2"])
def test_what_is_no_release_is_refused(release: str) -> None:
    with pytest.raises(ValueError, match="is no release"):
        ThreadRelease.of(release, None)


@pytest.mark.parametrize(("release", "timeout_ms"), [("2.8.2", 10_000), ("3.0.0", 45_000), (None, 45_000)])
def test_sessions_are_longer_since_3_0(release: str | None, timeout_ms: int) -> None:
    assert ThreadRelease.of(release, None).session_timeout_ms == timeout_ms
