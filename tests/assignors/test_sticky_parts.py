"""Parts of the sticky assignors against plain ways to compute the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assignors.java.sticky_different_balance import PartitionMovements
from assignors.java.sticky_different_subscriptions import balance_score
from assignors.model import level_fill


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 60))
def test_level_fill_serves_the_least_loaded_first_in_line(loads: list[int], amount: int) -> None:
    filled = np.array(loads, dtype=np.int64)
    receivers = level_fill(filled, amount).tolist()
    for receiver in receivers:
        assert loads[receiver] == min(loads)
        assert receiver == loads.index(min(loads))
        loads[receiver] += 1
    assert len(receivers) == amount
    assert filled.tolist() == loads


def test_a_move_the_other_way_takes_an_earlier_one_back() -> None:
    movements = PartitionMovements(lambda partition: partition)
    movements.record(7, 0, 1, 2)
    movements.record(5, 0, 1, 2)
    assert movements.instead_of(9, 0, 2, 1) == 5
    assert movements.instead_of(9, 1, 2, 1) == 9
    movements.record(5, 0, 2, 1)
    assert movements.instead_of(9, 0, 2, 1) == 7


def test_a_partition_that_moves_on_is_remembered_from_where_it_started() -> None:
    movements = PartitionMovements(lambda partition: partition)
    movements.record(7, 0, 1, 2)
    movements.record(7, 0, 2, 3)
    assert movements.instead_of(9, 0, 3, 1) == 7
    assert movements.instead_of(9, 0, 2, 1) == 9


def test_the_balance_score_overflows_like_javas_int() -> None:
    assert balance_score(np.array([5, 1, 3])) == 4 + 2 + 2
    assert balance_score(np.array([0, 2**31])) == -(2**31)
