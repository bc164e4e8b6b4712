"""`kohort why` names the same causes on a live broker, in its log and in a journal that was running; none is wrong.

`make incidents` plays all stories; `KOHORT_WRITE_GOLDEN=1 make incidents` also records them (`recorded/`)."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.incidents.record import SETTINGS, Played, keep, play_run
from tests.incidents.stories import Claim, Run, read_runs
from tests.incidents.truth import Named, Score, compare, named_in
from tests.kafka.coordinator import running_broker
from tests.support.long import LONG

RUNS = read_runs()
LONGEST_SESSION_S = 45.0  # After a story its last members are killed: until then something happens
pytestmark = [LONG, pytest.mark.kafka]


@pytest.fixture(scope="module")
def kohort(tmp_path_factory: pytest.TempPathFactory) -> Kohort:
    return Kohort(tmp_path_factory.mktemp("home"))


@pytest.mark.parametrize("run", RUNS.values(), ids=list(RUNS))
def test_live_log_directory_and_journal_name_the_same_right_causes(
    run: Run, kafka_jars: Path, kohort: Kohort, tmp_path: Path
) -> None:
    journal = tmp_path / "journal.db"
    with running_broker(kafka_jars, tmp_path / "broker", SETTINGS) as broker:
        live = ("--bootstrap-server", broker.bootstrap)
        with recorder(kohort, *live, "--journal", str(journal)):
            played = play_run(run, broker, kafka_jars)
            assert len(played) > 0.9 * len(run.incidents), "the machine is too busy"
            time.sleep(LONGEST_SESSION_S)
        sources = {
            "live": live,
            "log": ("--log-dir", str(broker.data)),
            "journal": ("--journal", str(journal)),
        }
        answers = {
            (name, stated): why(kohort, played, *source, stated=stated)
            for name, source in sources.items()
            for stated in (False, True)
        }
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        keep(run.name, played, broker.data)
    for (name, stated), groups in answers.items():
        score = score_of(played, groups)
        how = "with a stated session timeout" if stated else "by itself"
        print(f"{run.name}, {name} {how}: {score.right} right, {len(score.unknown)} unknown")
        assert score.wrong == [], (name, stated)
    # A log directory does not have the broker's defaults: with the same knowledge it has the same causes.
    assert plain(answers["log", True]) == plain(answers["live", True])
    for group, rows in answers["live", False].items():
        # A log knows less, and a recorder more: it sees members come and go.
        for name in ("log", "journal"):
            pairs = zip(rows, answers[name, False][group], strict=True)
            assert [(one, other) for one, other in pairs if one.contradicts(other)] == []


@contextmanager
def recorder(kohort: Kohort, *arguments: str) -> Iterator[None]:
    """`kohort record`, until the end of the block."""
    with subprocess.Popen([kohort.executable, "record", *arguments], env=kohort.env) as process:
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)


def why(kohort: Kohort, played: Sequence[Played], *source: str, stated: bool) -> dict[str, list[Named]]:
    """What `kohort why` names, by group, alone or with a stated session timeout."""
    found: dict[str, list[Named]] = {}
    for session_ms in {one.incident.session_ms for one in played}:
        groups = [one.group for one in played if one.incident.session_ms == session_ms]
        words = (*source, "--session-timeout", f"{session_ms}ms") if stated else source
        answer = kohort("why", *words, "--output", "json", *groups).succeeded()
        found |= {group["group"]: named_in(group) for group in answer.document["groups"]}
    return found


def plain(groups: Mapping[str, list[Named]]) -> dict[str, list[tuple[int, frozenset[Claim]]]]:
    return {group: [(row.time_us, row.claims) for row in rows] for group, rows in groups.items()}


def score_of(played: Sequence[Played], groups: Mapping[str, list[Named]]) -> Score:
    total = Score()
    for one in played:
        total += compare(one, groups[one.group])
    return total
