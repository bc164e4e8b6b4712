"""What random scenarios found, made smaller: each broke an invariant once."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.simulation.known_flaws import (
    ASSIGNED_AFTER_REPORT,
    REJOINED_UNNOTICED,
    RESTARTED_WHILE_REVOKING,
    STRAY_CLAIM,
    TOPIC_RECREATED,
)
from coordinator.simulation.run import run
from coordinator.simulation.scenario_file import read_scenario

FILES = Path(__file__).parent / "found"
FOUND: dict[str, tuple[int, set[tuple[str, str]]]] = {
    "claimed-a-topic-it-left": (312500, {("I5", STRAY_CLAIM), ("I10", STRAY_CLAIM), ("I4", STRAY_CLAIM)}),
    "answered-by-a-zombie": (708205, set()),
    "claims-until-the-leader-fails": (549351, {("I10", STRAY_CLAIM)}),
    "claimed-by-what-the-leader-knew": (204144, {("I5", STRAY_CLAIM), ("I2", STRAY_CLAIM)}),
    "commits-what-is-gone": (662849, {("I10", STRAY_CLAIM), ("I4", STRAY_CLAIM)}),
    "commit-was-on-its-way": (379759, {("I7", TOPIC_RECREATED)}),
    "committed-for-the-topic-before": (24061, {("I2", TOPIC_RECREATED), ("I7", TOPIC_RECREATED)}),
    "crash-then-zombie": (1465, set()),
    "lost-what-is-gone": (682962, set()),
    "next-target-is-empty": (614, set()),
    "no-member-left": (67, set()),
    "rejoined-and-commits": (202, {("I1", REJOINED_UNNOTICED), ("I7", REJOINED_UNNOTICED)}),
    "reported-after-a-throw": (3505, {("I2", ASSIGNED_AFTER_REPORT)}),
    "put-out-while-revoking": (931316, {("I4", RESTARTED_WHILE_REVOKING)}),
    "refused-again-and-again": (12813, set()),
    "refused-to-subscribe": (298032, set()),
    "regex-taken-back": (628574, set()),
    "reported-before-assigned": (3448, {("I7", ASSIGNED_AFTER_REPORT)}),
    "started-again-and-again": (3732, set()),
    "static-left-for-a-while": (330, set()),
    "epoch-of-an-earlier-group": (603758, set()),
    "waits-for-a-commit": (792735, set()),
}
"""By file: the seed, and the invariants that do not hold, with the names of the weaknesses of Kafka's rules."""


def test_all_files_are_played() -> None:
    assert {path.stem for path in FILES.glob("*.yaml")} == FOUND.keys()


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found(name: str) -> None:
    seed, expected = FOUND[name]
    result = run(read_scenario(FILES / f"{name}.yaml"), seed, with_story=False)
    assert {(violation.invariant, violation.known) for violation in result.violations} == expected
