"""`kohort record` in a separate process: it follows a cluster, is killed and continues, and others read its file."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from operator import ne
from pathlib import Path
from threading import Event, Thread

import pytest

from cli.sources.history.journal import read_journal_history
from cli.sources.history.logs import read_log_history
from coordinator.store.partition_files import partitions_for
from groups.history.departures import judged
from groups.history.events import PastRebalance, Verdict
from tests.cli.command import Kohort
from tests.cli.otlp import points_of, receiving
from tests.cli.verbs.exporter.scrapes import Figures
from tests.cli.verbs.record.test_recorder import commits_of, count_commits
from tests.cli.verbs.watch.running import Running, in_pipe
from tests.kafka.broker import Broker, RunningBroker
from tests.kafka.commits import commit_request, send_commits
from tests.kafka.coordinator import running_broker
from tests.kafka.http_server import Answer, Asked, http_server
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.support.long import LONG, cases
from wire.log.segments import list_segments, read_segment

pytestmark = pytest.mark.usefixtures("handled_interrupts")


def rebalances(file: Path, group: str) -> list[tuple[str, int]]:
    """The causes and numbers of members of the recorded rebalances of a group."""
    with sqlite3.connect(file) as database:
        return database.execute(
            "SELECT cause, members FROM rebalances JOIN groups ON id = group_id WHERE name = ? ORDER BY log_offset",
            (group,),
        ).fetchall()


def test_a_member_that_joins_and_leaves_is_recorded_and_reported(
    kohort: Kohort, broker: RunningBroker, members: Members, tmp_path: Path
) -> None:
    topic, group, file = fresh_name("orders"), fresh_name("group"), tmp_path / "j.db"
    create_topics(broker, {topic: 2})
    asked: list[Asked] = []

    def answer(one: Asked) -> Answer:
        asked.append(one)
        return Answer(body=b"")

    def is_storm(one: Asked) -> bool:
        document = json.loads(one.body)
        return (document["event"], document["group"]) == ("storm", group) and document["rebalances"] >= 3

    def pushed() -> float:
        points = points_of(received.messages[-1]) if received.asked else {}
        by_cause = points.get("kohort_group_recorded_rebalances_total", {})
        return sum(value for labels, value in by_cause.items() if own <= labels)

    own = {("group", group), ("team", "payments")}
    with http_server(answer) as url, receiving() as received:
        otlp = f"--otlp {received.url} --label team=payments"
        posts = f"--webhook {url} --per-hour 1000"  # Other groups of the broker have findings too
        line = f"record -b {broker.bootstrap} --every 1 --lag {posts} {otlp} --journal"
        with in_pipe(kohort, tmp_path, line, file, name="record") as recording:
            for turn in range(2):
                member = members.confluent(broker, group, [topic], partition_assignment_strategy="range")
                recording.wait_for(partial(has_lines, f"{group}: generation", 2 * turn + 1), "it joins")
                member.stop()
            recording.wait_for(partial(has_lines, f"{group}: generation", 4), "it left twice")
            wait_until(lambda: pushed() >= 4, lambda: f"pushed: {recording.stderr}")
            kohort(f"record --once -b {broker.bootstrap} --journal", file).assert_refused(
                "is written by another kohort record", "name another --journal", status=3
            )
            exported = kohort(f"exporter --once -b {broker.bootstrap} --match {group} --journal", file)
            assert Figures.read(exported.stdout).by(
                "kohort_group_recorded_rebalances_total", "cause", group=group
            )
            wait_until(lambda: any(map(is_storm, asked)), lambda: f"a storm is posted: {recording.stderr}")
            assert f": join of {member.name} on " in recording.stdout
            assert recording.interrupt(signal.SIGTERM) == 0
    assert [number for _, number in rebalances(file, group)] == [1, 0, 1, 0]
    kohort(f"record --once -b {broker.bootstrap} --journal", file).succeeded()
    assert len(rebalances(file, group)) == 4
    document = kohort("why", group, "--journal", file, "--output", "json").document
    assert len(document["groups"][0]["rebalances"]) == 4


@pytest.mark.kafka
@pytest.mark.timeout(3_600)
def test_killed_again_and_again_it_counts_everything_once(
    kohort: Kohort, broker: Broker, members: Members, tmp_path: Path
) -> None:
    topic, group, file = fresh_name("orders"), fresh_name("killed"), tmp_path / "j.db"
    create_topics(broker, {topic: 4})
    line = f"record -b {broker.bootstrap} --journal"
    with committing(broker, fresh_name("load"), topic):
        for number in range(cases("KOHORT_RECORDER_KILLS", 2, many=100)):
            with in_pipe(kohort, tmp_path, line, file, name="record") as recording:
                before = positions(file)
                member = members.confluent(broker, group, [topic], session_timeout_ms=6_000)
                wait_until(partial(has_written, file, before), "it has written")
                member.stop()
                time.sleep(number % 7 / 10)
                recording.process.send_signal(signal.SIGKILL)
                recording.process.wait(60)
    kohort(line.replace("record ", "record --once "), file).succeeded()
    expected = read_log_history([broker.data], [], since_ms=0, has_name=lambda _: True)
    recorded = read_journal_history(file, [], since_ms=0, has_name=lambda _: True)
    assert count_commits(file) == commits_of(dict(expected.courses))
    assert recorded.courses.keys() <= expected.courses.keys()
    known_better = 0
    for name, course in expected.courses.items():
        if not course.rebalances and not [*course.commits.places]:
            continue  # a share or streams group, whose records are not part of its history
        # With what the recorder observed of its settings and members, the log says the same.
        knowledge = recorded.courses[name].knowledge
        logged = [judged(row, course.commits, knowledge) for row in course.rebalances]
        assert verdicts_of(recorded.courses[name].rebalances) == verdicts_of(logged)
        known_better += sum(map(ne, verdicts_of(logged), verdicts_of(course.rebalances)))
    assert recorded.courses[group].rebalances == expected.courses[group].rebalances
    with sqlite3.connect(file) as database:
        keys = database.execute("SELECT group_id, log_offset FROM rebalances").fetchall()
    assert len(keys) == len(set(keys))
    commits = sum(count_commits(file).values())
    print(f"{commits:,} commits and {len(keys)} rebalances, each once; {known_better} known better")


def verdicts_of(rebalances: Sequence[PastRebalance]) -> list[tuple[int, int, tuple[Verdict, ...]]]:
    return [(row.offset, row.epoch, row.verdicts) for row in rebalances]


@LONG
@pytest.mark.kafka
@pytest.mark.parametrize("is_recording", [True, False])
def test_a_broker_that_restarts_or_loses_records_changes_no_count(
    kohort: Kohort, kafka_jars: Path, members: Members, tmp_path: Path, is_recording: bool
) -> None:
    """It is killed twice; then the last records are cut off its log, and others come at their offsets, while it is
    recorded, or before the recorder starts again."""
    topic, group, load, file = "orders", "group", "load", tmp_path / "j.db"
    turns = count()
    with running_broker(kafka_jars, tmp_path / "kafka") as broker:
        create_topics(broker, {topic: 4})
        line = f"record -b {broker.bootstrap} --journal"
        members.confluent(broker, group, [topic], session_timeout_ms=6_000)
        with in_pipe(kohort, tmp_path, line, file, name="record") as recording:
            for _ in range(2):
                commit_often(broker, load, topic, next(turns))
                broker.crash()
                broker.start()
            commit_often(broker, load, topic, next(turns))
            recording.wait_for(lambda _: is_equal_to_log(file, broker), "everything is recorded")
            if not is_recording:
                recording.interrupt(signal.SIGTERM)
            broker.stop()
            lost = cut(broker.data, load, batches=20)
            broker.start()
            for _ in range(2):
                commit_often(broker, load, topic, next(turns))
            if is_recording:
                recording.wait_for(lambda run: "its log was truncated" in run.stderr, "it is reported")
                recording.interrupt(signal.SIGTERM)
        kohort(line.replace("record ", "record --once "), file).succeeded()
        assert is_equal_to_log(file, broker, lost)
        why = kohort("why --since 1h --journal", file, load)
        assert "are not in the journal: the cluster lost them" in why.stderr + why.stdout


def commit_often(broker: Broker, group: str, topic: str, turn: int) -> None:
    send_commits(broker, [commit_request(group, topic, [100 * turn + index] * 4) for index in range(100)])


def is_equal_to_log(file: Path, broker: Broker, lost: int = 0) -> bool:
    """Whether the journal has the commits of the log, and those that were lost, and the same rebalances."""
    expected = read_log_history([broker.data], [], since_ms=0, has_name=lambda _: True).courses
    recorded = read_journal_history(file, [], since_ms=0, has_name=lambda _: True).courses
    counts = sum(count_commits(file).values()), sum(commits_of(dict(expected)).values()) + lost
    print(f"{counts} commits")
    return counts[0] == counts[1] and all(
        [(row.offset, row.epoch) for row in recorded[group].rebalances]
        == [(row.offset, row.epoch) for row in course.rebalances]
        for group, course in expected.items()
    )


def cut(data: Path, group: str, batches: int) -> int:
    """Cut batches off the end of a group's partition of the log. Returns the number of their records."""
    number = partitions_for([group], len(list(data.glob("__consumer_offsets-*"))))[0]
    segment = read_segment(list_segments(data / f"__consumer_offsets-{number}")[-1])
    os.truncate(segment.path, int(segment.batches.positions[-batches]))
    segment.path.with_suffix(".index").unlink()  # a broker writes it again
    return int(segment.batches.headers["count"][-batches:].sum())


def has_lines(text: str, least: int, recording: Running) -> bool:
    return recording.stdout.count(text) >= least


def has_written(file: Path, before: int) -> bool:
    return positions(file) > before


def positions(file: Path) -> int:
    """How much of the log was written."""
    if not file.exists():
        return 0
    try:
        with sqlite3.connect(file) as database:
            return int(database.execute("SELECT coalesce(sum(next_offset), 0) FROM positions").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@contextmanager
def committing(broker: Broker, group: str, topic: str) -> Iterator[None]:
    """Commits of a group without members, hundreds a second."""
    stop = Event()

    def run() -> None:
        turn = 0
        while not stop.is_set():
            send_commits(broker, [commit_request(group, topic, [turn + index] * 4) for index in range(50)])
            turn += 50
            stop.wait(0.1)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
