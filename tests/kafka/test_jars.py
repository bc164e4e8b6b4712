"""The source of the jars, and the error on a machine without them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kafka.child import ROOT
from tests.kafka.jars import KafkaUnavailableError, fetch, kafka_version

ONE_TEST = "tests/kafka/test_rig.py::test_a_connect_group_is_shown"

# Does what Maven is asked to: fills the directory, slowly enough for two to overlap.
MAVEN = """#!/bin/sh
for word in "$@"; do case $word in -DoutputDirectory=*) directory=${word#*=};; esac; done
mkdir -p "$directory" && sleep 0.5 && echo jar > "$directory/kafka.jar"
"""


def run_without_java(**variables: str) -> subprocess.CompletedProcess[str]:
    """Run one test of the rig where no program can be found."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", ONE_TEST]
    env = {**os.environ, "PATH": "/nowhere", **variables}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=env)


def test_without_java_the_tests_are_skipped_and_the_summary_counts_them() -> None:
    said = run_without_java(KOHORT_REQUIRE_KAFKA="0")
    assert said.returncode == 0, said
    assert "no java on PATH" in said.stdout
    assert "Skipped for want of a real Kafka broker: 1" in said.stdout


def test_where_the_broker_is_required_its_absence_is_a_failure() -> None:
    said = run_without_java(KOHORT_REQUIRE_KAFKA="1")
    assert said.returncode == 1, said
    assert "no java on PATH" in said.stdout


@pytest.mark.kafka
def test_two_processes_may_fetch_at_once(kafka_jars: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "mvn").write_text(MAVEN)
    (tools / "mvn").chmod(0o755)
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": f"{tools}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "tests.kafka.jars"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=env) for _ in range(2)]
    first, second = (one.communicate()[0].strip() for one in both)
    assert [one.returncode for one in both] == [0, 0]
    assert first == second
    assert [one.name for one in Path(first).iterdir()] == ["kafka.jar"]
    assert list((tmp_path / "cache" / "kohort" / f"kafka-{kafka_version()}").iterdir()) == [Path(first)]


def test_a_jar_that_cannot_be_had_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kafka_jars: Path
) -> None:
    (tmp_path / "mvn").write_text("#!/bin/sh\necho no such artifact; exit 1\n")
    (tmp_path / "mvn").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(KafkaUnavailableError, match="no such artifact"):
        fetch()
