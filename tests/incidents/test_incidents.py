"""No cause of what was done to real groups is named wrongly; what is not known is listed with its reason."""

from __future__ import annotations

import pytest

from cli.sources.history.logs import read_log_history
from groups.history.departures import NOTHING, Knowledge
from tests.incidents.record import recording
from tests.incidents.stories import read_runs
from tests.incidents.truth import Score, compare, named_by
from tests.kafka.settings import HEARTBEAT_MS
from tests.support.golden import assert_recorded

HOW = {False: "from the log alone", True: "with stated sessions"}


@pytest.mark.parametrize("run", read_runs())
def test_the_causes_of_what_was_done_to_real_groups_are_never_wrong(run: str) -> None:
    scores = {how: score_of(run, stated=stated) for stated, how in HOW.items()}
    assert {how: score.wrong for how, score in scores.items()} == {how: [] for how in HOW.values()}
    answers = {
        f"{how}: {score.right} right, {len(score.unknown)} unknown": "\n".join(score.unknown)
        for how, score in scores.items()
    }
    assert_recorded(f"incidents/{run}.txt", answers)


def score_of(run: str, *, stated: bool) -> Score:
    """The score of a recording; the cluster's metadata have the settings of some of its groups."""
    total = Score()
    with recording(run) as (data, played):
        for session_ms in {one.incident.session_ms for one in played}:
            some = [one for one in played if one.incident.session_ms == session_ms]
            known = (
                Knowledge(session_timeout_ms=session_ms, heartbeat_interval_ms=HEARTBEAT_MS)
                if stated
                else NOTHING
            )
            history = read_log_history([data], [one.group for one in some], since_ms=0, stated=known)
            for one in some:
                total += compare(one, named_by(history.courses[one.group]))
    return total
