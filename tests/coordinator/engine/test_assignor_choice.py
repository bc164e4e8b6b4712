"""Ties between assignors, as random groups on a running Kafka 4.3.1 decided them."""

from __future__ import annotations

import pytest

from coordinator.engine.consumer.target_assignment import chosen_assignor, shown_assignor

BOTH = ("uniform", "range")


@pytest.mark.parametrize(
    ("requested_assignors", "old", "new", "expected"),
    [
        ({}, None, None, "uniform"),
        ({}, None, "range", "range"),
        ({"uniform": 1}, None, "range", "range"),
        ({"range": 1}, None, "uniform", "uniform"),
        ({"uniform": 1, "range": 1}, "uniform", "uniform", "uniform"),
        ({"uniform": 1, "range": 1}, "range", "range", "range"),
        ({"uniform": 1, "range": 1}, None, None, "uniform"),
        ({"uniform": 1, "range": 2}, None, None, "range"),
        ({"uniform": 2, "range": 1}, "uniform", "range", "range"),
        ({"uniform": 1, "range": 1}, None, "range", "range"),
        ({"uniform": 1}, "uniform", None, "uniform"),
    ],
)
def test_what_is_computed_with(
    requested_assignors: dict[str, int], old: str | None, new: str | None, expected: str
) -> None:
    assert chosen_assignor(requested_assignors, old, new, BOTH) == expected


def test_an_assignor_that_is_not_configured_any_more_is_not_used() -> None:
    assert chosen_assignor({"range": 3}, None, None, ("uniform",)) == "uniform"


def test_describe_shows_uniform_for_a_tie() -> None:
    assert shown_assignor({"uniform": 1, "range": 1}, "range") == "uniform"
    assert shown_assignor({}, "range") == "range"
