"""What is derived from the user data of Kafka Streams: warm-ups, lags, the rebalance protocol, errors (A43)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from groups.classic_streams import Rebalancing, StreamsError, error_name, streams_threads, task_lags
from groups.model import Member, Topic
from tests.groups.streams_groups import application, task, thread

PROBE = 1_700_000_000_000
ALL = "0_0 0_1 0_2"

WARM_UPS: Mapping[str, tuple[Sequence[Member], Mapping[str, str] | None]] = {
    "without a probing rebalance each copy is a standby task": (
        [thread("a1", ALL), thread("b1", "", ALL)],
        {"a1-id": "", "b1-id": ""},
    ),
    "without standby replicas each copy is a warm-up": (
        [thread("a1", ALL, next_ms=PROBE), thread("b1", "", "0_0 0_2")],
        {"a1-id": "", "b1-id": "0_0 0_2"},
    ),
    "the copy beyond the replicas that is furthest behind": (
        [
            thread("a1", ALL, next_ms=PROBE),
            thread("b1", "", ALL, had={"0_0": 90, "0_1": 90}),
            thread("c1", "", "0_0", had={"0_0": 10}),
        ],
        {"a1-id": "", "b1-id": "", "c1-id": "0_0"},
    ),
    "two copies that are as far are not known apart": (
        [thread("a1", ALL, next_ms=PROBE), thread("b1", "", ALL), thread("c1", "", "0_0")],
        None,
    ),
    "as many copies of each task may be either": (
        [thread("a1", ALL, next_ms=PROBE), thread("b1", "", ALL)],
        None,
    ),
    "tasks without state have no copies": (
        [thread("a1", f"{ALL} 1_0 1_1", next_ms=PROBE), thread("b1", "", "0_0", had={"0_0": 5})],
        {"a1-id": "", "b1-id": "0_0"},
    ),
    "tasks to be revoked are copies until the next rebalance": (
        [thread("a1", ALL, next_ms=PROBE), thread("b1", "", "0_0", next_ms=0)],
        None,
    ),
    "releases before 2.6 have none": (
        [thread("a1", ALL, used=5, newest=5), thread("b1", "", ALL, used=5, newest=5)],
        {"a1-id": "", "b1-id": ""},
    ),
    "an old version does not show those of a newer release": (
        [thread("a1", ALL, used=4, newest=4), thread("b1", "", "0_1", used=4)],
        None,
    ),
    "named topologies have separate tasks": (
        [thread("a1", "x__0_0 y__0_0", next_ms=PROBE), thread("b1", "", "y__0_0", had={"x__0_0": 1})],
        {"a1-id": "", "b1-id": "y__0_0"},
    ),
}


@pytest.mark.parametrize(("threads", "expected"), WARM_UPS.values(), ids=WARM_UPS)
def test_warm_ups(threads: Sequence[Member], expected: Mapping[str, str] | None) -> None:
    """A43"""
    for one in streams_threads(application(*threads)):
        words = None if expected is None else tuple(map(task, expected[one.member.id].split()))
        assert one.warm_ups == words


def topic(name: str, *ends: int) -> Topic:
    return Topic(name=name, partitions=len(ends), end_offsets=dict(enumerate(ends)))


def test_a_lag_is_known_where_the_changelogs_of_a_task_are() -> None:
    had = {"0_0": 30, "0_1": -2, "1_0": 7, "2_0": -3}
    group = application(thread("a1", "0_0 0_1 1_0 2_0 2_1 2_2", had=had))
    topics = [
        topic("app-counts-changelog", 40, 9),
        topic("app-sums-changelog", 1, 1),
        topic("app-last-changelog", 5),
        topic("other-sums-changelog", 500, 500),
    ]
    lags = task_lags(group, streams_threads(group), {one.name: one for one in topics})
    # 41 records less 30; 1_0 has more than its changelog: another topic is its changelog.
    assert lags == {"a1-id": {task("0_0"): 11, task("0_1"): 0}}


def test_subtopologies_of_one_size_do_not_show_whose_a_changelog_is() -> None:
    group = application(thread("a1", "0_0 1_0", had={"0_0": 1, "1_0": 1}))
    lags = task_lags(group, streams_threads(group), {"app-c-changelog": topic("app-c-changelog", 5)})
    assert lags == {"a1-id": {}}


@pytest.mark.parametrize(
    ("member", "rebalancing"),
    [
        (thread("a1", kept={"orders": (0,)}), Rebalancing.COOPERATIVE),
        (thread("a1"), None),
        (thread("a1", used=2), Rebalancing.EAGER),
        (thread("a1", used=4, newest=4), Rebalancing.EAGER),
        (thread("a1", used=4, newest=11), None),
    ],
)
def test_a_thread_shows_its_rebalance_protocol(member: Member, rebalancing: Rebalancing | None) -> None:
    (one,) = streams_threads(application(member))
    assert one.rebalancing is rebalancing


def test_an_error_of_the_subscription_or_of_the_assignment_counts() -> None:
    reporting, fine = streams_threads(application(thread("a1", error=4), thread("b1")))
    assert (error_name(reporting.error), error_name(fine.error)) == ("SHUTDOWN_REQUESTED", "NONE")
    assert [error_name(code) for code in (3, 9, None)] == [StreamsError.ASSIGNMENT_ERROR.name, "9", None]


def test_another_group_has_no_threads() -> None:
    assert streams_threads(replace(application(thread("a1")), protocol="range")) == ()
