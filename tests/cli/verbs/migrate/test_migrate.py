"""`kohort migrate --execute` on a served group whose members are consumers of librdkafka."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.journal.entry import paired
from cli.verbs.migrate.run_directory import RunDirectory
from cli.verbs.plan.files import read_plan
from tests.cli.command import Answer, Kohort
from tests.cli.journal.entries import entries_about
from tests.cli.schemas import faults
from tests.cli.verbs.migrate.restarted_group import RestartedGroup, restarted_group
from tests.cli.verbs.watch.running import in_pipe
from tests.kafka.broker import RunningBroker
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics

pytestmark = pytest.mark.usefixtures("handled_interrupts")
PARTITIONS = 4


@pytest.fixture
def members(broker: RunningBroker, tmp_path: Path) -> Iterator[RestartedGroup]:
    topic = fresh_name("orders")
    create_topics(broker, {topic: PARTITIONS})
    with restarted_group(broker, tmp_path, fresh_name("billing"), topic, PARTITIONS) as group:
        yield group


@pytest.fixture
def plan(kohort: Kohort, members: RestartedGroup, tmp_path: Path) -> Path:
    file = tmp_path / "PLAN.yaml"
    options = ("--to", "consumer", "--client", "librdkafka:2.15.0", "--output", "yaml")
    answer = kohort.quick("plan", members.group, *options, "-b", members.broker.bootstrap)
    file.write_text(answer.succeeded().stdout)
    return file


def words(plan: Path, members: RestartedGroup, *options: str) -> tuple[str | Path, ...]:
    restart = ("--restart", f"{members.hook} --token=hunter2")
    return ("migrate", plan, *restart, "-b", members.broker.bootstrap, "--watch", "0", *options)


def carry_out(kohort: Kohort, plan: Path, members: RestartedGroup, *options: str) -> Answer:
    answer = kohort.quick(*words(plan, members, "--execute", "--yes", *options))
    assert not answer.traceback, answer.stderr
    return answer


def described(kohort: Kohort, members: RestartedGroup) -> dict[str, Any]:
    answer = kohort.quick("describe", members.group, "-b", members.broker.bootstrap, "--output", "json")
    return dict(answer.document["groups"][0])


def documents(text: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in text.splitlines()]
    assert [fault for line in lines for fault in faults(line)] == []
    return lines


def test_a_plan_is_carried_out_and_its_gates_stay_open(
    kohort: Kohort, members: RestartedGroup, plan: Path
) -> None:
    lines = documents(carry_out(kohort, plan, members, "--output", "json").succeeded().stdout)
    events, (end,) = lines[:-1], lines[-1]["plans"]
    assert (events[0]["event"], events[-1]["event"]) == ("run-began", "finished")
    assert documents((plan.parent / "PLAN.yaml.run" / "events.jsonl").read_text()) == events
    assert (end["state"], end["restarts"], end["stopped"]) == ("done", 2, None)
    assert sorted(members.restarted) == ["a", "b"]
    for step in range(1, len(end["steps"]) + 1):
        kohort.quick("gate", plan, "--step", str(step), "-b", members.broker.bootstrap).succeeded()
    assert described(kohort, members)["type"] == "consumer"
    entry, ended = entries_about(members.group)[-1]
    assert ended is not None
    assert (entry.verb, ended.status.value) == ("migrate", "done")
    assert [(item.kind.value, item.before, item.after) for item in entry.items] == [
        ("step", "classic (range)", "consumer")
    ]
    assert len(ended.items) == 2
    assert all(item.at and result.result.value == "done" for item, result in paired(entry, ended)[1:])
    undo = kohort.quick("undo", entry.id, "-b", members.broker.bootstrap, "--execute", "--yes")
    undo.assert_said(
        4, "a migration is rolled back step by step: kohort migrate PLAN.yaml --back", "nothing was changed"
    )
    assert described(kohort, members)["type"] == "consumer"
    # A second run finds nothing to do.
    assert carry_out(kohort, plan, members).succeeded().stdout.count("is running") == 0


def test_a_run_stops_and_goes_back(kohort: Kohort, members: RestartedGroup, plan: Path) -> None:
    members.fail("b" if read_plan(plan).steps[0].rounds[0] == ("a",) else "a")
    stopped = carry_out(kohort, plan, members)
    assert stopped.status == 1
    assert "stopped by the rule hook" in stopped.stdout
    entry, ended = entries_about(members.group)[-1]
    assert "hunter2" not in str((entry, ended))
    assert ended is not None
    assert (ended.status.value, ended.results[0].message) == ("failed", "stopped")
    following = [
        line.partition("run next: kohort ")[2] for line in stopped.stdout.splitlines() if "run next" in line
    ]
    assert [command.split()[0] for command in following] == ["gate", "diagnose", "migrate", "migrate"]
    log = plan.parent / "PLAN.yaml.run"
    assert "hunter2" not in (log / "events.jsonl").read_text().replace("the password is hunter2", "")
    members.fail("")
    done = list(members.restarted)
    preview = kohort.quick(*words(plan, members)).succeeded().stdout
    assert "The last run ended at" in preview
    back = carry_out(kohort, plan, members, "--back")
    assert "rolled back" in back.succeeded().stdout
    assert members.restarted[: len(done)] == done
    assert set(members.restarted[len(done) :]) == {"a", "b"}
    group = described(kohort, members)
    assert (group["type"], group["protocol"]) == ("classic", "range")


def test_one_run_at_a_time(kohort: Kohort, members: RestartedGroup, plan: Path) -> None:
    other = plan.with_name("OTHER.yaml")
    other.write_text(plan.read_text())
    read = read_plan(plan)
    with RunDirectory(plan, read, read.baseline.cluster if read.baseline else None):
        carry_out(kohort, plan, members).assert_refused("is carrying out")
        carry_out(kohort, other, members).assert_refused(
            f"is carrying out a plan of the group {members.group}"
        )
    assert members.restarted == []


def test_a_signal_ends_the_command_that_is_running(
    kohort: Kohort, members: RestartedGroup, plan: Path
) -> None:
    members.hook.write_text("#!/bin/sh\nexec sleep 300\n")
    options = ("--execute", "--yes", "--output", "json")
    with in_pipe(kohort, plan.parent, *words(plan, members, *options), name="migrate") as running:
        hook = running.wait_document(lambda event: event.get("event") == "hook-runs", "the command runs")
        assert running.interrupt(signal.SIGTERM) == 1
    assert not Path(f"/proc/{hook['process']}").exists()
    (end,) = running.documents[-1]["plans"]
    assert (end["state"], end["stopped"]["rule"]) == ("stopped", "interrupted")


def test_a_log_that_cannot_be_written_stops_the_run(
    kohort: Kohort, members: RestartedGroup, plan: Path
) -> None:
    directory = plan.parent / "PLAN.yaml.run"
    directory.write_text("a file")
    carry_out(kohort, plan, members).assert_refused("Not a directory", status=3)
    directory.unlink()
    directory.mkdir()
    (directory / "events.jsonl").write_bytes(b'{"event": "x", "at": "x", "plan": "another"}\n' * 1393)
    limited = ("/bin/sh", "-c", 'ulimit -f 123; exec "$@"', "sh", kohort.executable)
    command = [*limited, *map(str, words(plan, members, "--execute", "--yes"))]
    done = subprocess.run(command, env=kohort.env, capture_output=True, text=True, check=False)
    assert (done.returncode, "stopped by the rule log" in done.stdout) == (1, True), done
    assert members.restarted == []
