"""A23 to A27, A31, B19, B20, D06, D07: the calls of a custom assignor in the stories that Java's consumers played; that
the simulation makes the same calls is in `test_stories.py`."""

from itertools import groupby

import pytest

from tests.coordinator.simulation.recordings import RECORDED, Call, read_recording

PATHS = sorted(RECORDED.glob("assignor-*.java.json"))
SENDS, ASSIGNS, HEARS = "subscription_user_data", "assign", "on_assignment"


def calls_of(name: str, member: str) -> tuple[Call, ...]:
    (course, *_) = read_recording(RECORDED / f"assignor-{name}.as-written.java.json").courses
    return course.members[member].calls


def words(calls: tuple[Call, ...]) -> str:
    """The calls in order, without repetitions."""
    return " ".join(what for what, _ in groupby(call.what for call in calls))


@pytest.mark.parametrize(
    ("name", "member", "order"),
    [
        # KIP-429's first figure: everything is revoked before the user data are sent.
        ("eager", "a", f"{SENDS} {ASSIGNS} {HEARS} assigned revoked {SENDS} {ASSIGNS} {HEARS} assigned"),
        ("eager", "b", f"{SENDS} {HEARS} assigned revoked"),
        # Its second figure: what goes to another member is revoked between `assign` and `on_assignment`.
        (
            "cooperative",
            "a",
            f"{SENDS} {ASSIGNS} {HEARS} assigned {SENDS} {ASSIGNS} revoked {HEARS} assigned {SENDS} {ASSIGNS}",
        ),
    ],
)
def test_the_order_of_calls_is_that_of_the_figures(name: str, member: str, order: str) -> None:
    """A31."""
    assert words(calls_of(name, member)).startswith(order)


def test_java_calls_version_nowhere() -> None:
    """A26: the assignor of the recordings reports every call, `version()` too."""
    methods = {
        call.what
        for path in PATHS
        for course in read_recording(path).courses
        for member in course.members.values()
        for call in member.calls
        if call.assignor is not None
    }
    assert methods == {SENDS, ASSIGNS, HEARS}


def test_a_changed_state_counts_when_a_rebalance_is_enforced() -> None:
    """D06, D07: a weight of 5 instead of 1 at 10 s, of another member at 18 s; enforceRebalance at 13 s and 18.5 s."""
    heard = [call for call in calls_of("state-changes", "b") if call.what == HEARS and call.assignor]
    shares = [sum(map(len, (call.assignor or {})["partitions"].values())) for call in heard]
    assert (shares, [int(call.at_s) for call in heard]) == ([3, 5, 3], [5, 13, 18])
