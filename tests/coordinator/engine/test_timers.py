"""Timers, against the plainest way to keep them."""

from hypothesis import given
from hypothesis import strategies as st

from coordinator.engine.timers import TimerKey, TimerKind, Timers

KEYS = [TimerKey(TimerKind.SESSION, "g", name) for name in "abcd"]
STEPS = st.lists(
    st.tuples(st.sampled_from(["set", "cancel", "pop"]), st.integers(0, 3), st.integers(0, 20)), max_size=60
)


@given(STEPS)
def test_the_earliest_comes_first_and_equals_in_the_order_of_setting(
    steps: list[tuple[str, int, int]],
) -> None:
    timers = Timers()
    plain: dict[TimerKey, tuple[int, int]] = {}
    for number, (step, index, time) in enumerate(steps):
        key = KEYS[index]
        if step == "set":
            timers.set(key, time)
            plain[key] = (time, number)
        elif step == "cancel":
            timers.cancel(key)
            plain.pop(key, None)
        else:
            due = min((entry, one) for one, entry in plain.items()) if plain else None
            expected = due[1] if due is not None and due[0][0] <= time else None
            assert timers.pop_due(time) == expected
            if expected:
                del plain[expected]
        earliest = min((entry[0] for entry in plain.values()), default=None)
        bound = timers.no_deadline_before()
        assert earliest is None or (bound is not None and bound <= earliest)
        assert timers.next_deadline() == earliest
        assert timers.deadline(key) == (plain[key][0] if key in plain else None)


def test_moving_a_deadline_back_again_and_again_takes_no_room() -> None:
    timers = Timers()
    for now in range(10_000):
        timers.set(KEYS[0], now + 45_000)
    assert len(timers._heap) == 1
    assert timers.next_deadline() == 9_999 + 45_000
