"""Timers as data, against the obvious way: a dictionary that is searched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coordinator.broker.timers import TimerKey, TimerKind, Timers

KEYS = [TimerKey(TimerKind.SESSION, "g", name) for name in "abc"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(KEYS), st.integers(0, 9)),
        st.tuples(st.sampled_from(KEYS), st.none()),
        st.tuples(st.none(), st.integers(0, 9)),
    ),
    max_size=60,
)


@given(STEPS)
def test_timers_go_off_as_an_obvious_search_says(steps: list[tuple[TimerKey | None, int | None]]) -> None:
    timers = Timers()
    obvious: dict[TimerKey, tuple[int, int]] = {}
    for number, (key, when) in enumerate(steps):
        if key is None:
            now = when or 0
            due = min((entry for entry in obvious.items() if entry[1][0] <= now), key=_when, default=None)
            assert timers.pop_due(now) == (None if due is None else due[0])
            if due is not None:
                del obvious[due[0]]
        elif when is None:
            timers.cancel(key)
            obvious.pop(key, None)
        else:
            timers.set(key, when)
            obvious[key] = (when, number)
        assert timers.next_deadline() == min((when for when, _ in obvious.values()), default=None)
        assert [timers.deadline(each) for each in KEYS] == [obvious.get(each, (None,))[0] for each in KEYS]


def _when(entry: tuple[TimerKey, tuple[int, int]]) -> tuple[int, int]:
    return entry[1]


def test_timer_that_is_set_again_and_again_does_not_pile_up() -> None:
    timers = Timers()
    for _ in range(10_000):
        timers.set(KEYS[0], 5)
    assert len(timers._heap) < 100
