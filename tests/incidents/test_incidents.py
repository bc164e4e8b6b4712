"""No cause of what was done to real groups is named wrongly; what is not known is listed with its reason."""

from collections.abc import Callable, Mapping

import pytest

from cli.sources.history.logs import read_log_history
from groups.history.departures import NOTHING, Knowledge
from tests.incidents.record import recording
from tests.incidents.stories import read_runs
from tests.incidents.truth import Score, compare, named_by
from tests.kafka.settings import HEARTBEAT_MS
from tests.support.golden import assert_recorded

KNOWN: Mapping[str, Callable[[int], Knowledge]] = {
    "from the log alone": lambda _: NOTHING,
    "with a stated session timeout": lambda session_ms: Knowledge(session_timeout_ms=session_ms),
    "with the settings of a live cluster": lambda session_ms: Knowledge(
        session_timeout_ms=session_ms, heartbeat_interval_ms=HEARTBEAT_MS
    ),
}


@pytest.mark.parametrize("run", read_runs())
def test_the_causes_of_what_was_done_to_real_groups_are_never_wrong(run: str) -> None:
    scores = {how: score_of(run, known) for how, known in KNOWN.items()}
    assert {how: score.wrong for how, score in scores.items()} == {how: [] for how in KNOWN}
    answers = {
        f"{how}: {score.right} right, {len(score.unknown)} unknown": "\n".join(score.unknown)
        for how, score in scores.items()
    }
    assert_recorded(f"incidents/{run}.txt", answers)


def score_of(run: str, known: Callable[[int], Knowledge]) -> Score:
    """The score of a recording. `known`: what is known of groups with a session timeout (in ms) beyond their log, whose
    directory has the settings of some groups."""
    total = Score()
    with recording(run) as (data, played):
        for session_ms in {one.incident.session_ms for one in played}:
            some = [one for one in played if one.incident.session_ms == session_ms]
            groups = [one.group for one in some]
            history = read_log_history([data], groups, since_ms=0, stated=known(session_ms))
            for one in some:
                total += compare(one, named_by(history.courses[one.group]))
    return total
