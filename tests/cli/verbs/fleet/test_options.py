"""`kohort fleet`: what is refused before Spark starts, what is said where Spark cannot be; how far a run has come."""

import subprocess
from pathlib import Path

import pytest

from cli.errors import UsageError
from cli.verbs.fleet.options import LiveOptions, SparkOptions
from cli.verbs.fleet.sources import live_of
from cli.verbs.fleet.spark import cause_of, conf_of, settings_of, step_text
from pipeline.history import HistoryProgress, HistoryStep
from tests.cli.command import Kohort
from tests.kafka.broker import Broker
from tests.support.golden import assert_recorded

REFUSED = """
history --embedded SAMPLE --as-of -1d
history --embedded SAMPLE --as-of soon --group g
history --embedded SAMPLE --since yesterday
history --embedded SAMPLE --since -1h --until -2h
history --embedded SAMPLE --svg x.svg
history --embedded SAMPLE --svg x.svg --group a --group b
history --embedded SAMPLE --report no/such/place.html
history --embedded SAMPLE --report .
history --embedded SAMPLE --conf spark.cores.max
history --embedded SAMPLE --master spark://a:7077
history --embedded SAMPLE --topics t.txt --snapshot s.yaml
history -b a:1 --log-dir d
history --context c --log-dir d
history --command-config client.properties
history --log-dir above
history --log-dir nothing
history
audit --log-dir above
audit --log-dir nothing
audit --snapshots nothing
audit
KOHORT_SNAPSHOT=s.yaml history
KOHORT_BOOTSTRAP_SERVER=127.0.0.1:1 audit
follow --out out
follow --out out -b 127.0.0.1:1 --checkpoint out
follow --out out -b 127.0.0.1:1 --checkpoint out/x/
follow --out out -b 127.0.0.1:1 --once --for 3
"""


def test_what_is_refused_before_spark_starts_is_as_recorded(
    kohort: Kohort, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    (tmp_path / "client.properties").write_text("schema.registry.url=http://registry\n")
    (tmp_path / "above").mkdir()
    (tmp_path / "above" / "data").symlink_to(sample)
    answers = {}
    for line in REFUSED.strip().splitlines():
        *env, options = line.split(" ", 1) if line.startswith("KOHORT") else (line,)
        command = f"fleet {options.replace('SAMPLE', str(sample))}"
        answer = kohort.quick(command, **dict(pair.split("=") for pair in env))
        assert not answer.stdout
        answers[line] = f"{answer.status}: {answer.stderr}"
    assert_recorded("fleet/refused.txt", answers)
    assert not (tmp_path / "out").exists()


def test_a_context_brings_its_own_properties(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        """
contexts:
  production:
    bootstrap_server: "kafka-1:9093"
    properties:
      security.protocol: SASL_SSL
      sasl.mechanism: SCRAM-SHA-512
      sasl.username: kohort
      sasl.password: {env: KAFKA_PASSWORD}
"""
    )
    file.chmod(0o600)
    monkeypatch.setenv("KOHORT_CONFIG", str(file))
    monkeypatch.setenv("KAFKA_PASSWORD", "s3cret-of-ours")
    live = live_of(LiveOptions(context="production"))
    assert live.bootstrap == "kafka-1:9093"
    assert live.client["kafka.security.protocol"] == "SASL_SSL"
    assert 'password="s3cret-of-ours"' in live.client["kafka.sasl.jaas.config"]


@pytest.mark.kafka
def test_another_cluster_than_a_context_means(kohort: Kohort, broker: Broker, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"contexts:\n  a: {{bootstrap_server: '{broker.bootstrap}', cluster_id: another}}\n")
    for command in ("history", "follow"):
        answer = kohort.quick("fleet", command, "--context", "a", "--out", tmp_path, KOHORT_CONFIG=str(file))
        answer.assert_refused("and the context is for another", status=3)


@pytest.mark.parametrize("command", [("history", "--master", "local"), ("audit",)])
def test_without_java_the_next_step_is_said(
    kohort: Kohort, sample: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    done = subprocess.run(
        [kohort.executable, "fleet", *command, "--embedded", sample],
        env={**kohort.env, "JAVA_HOME": str(tmp_path)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "")
    said = f"kohort: Spark needs Java 17 or later, and JAVA_HOME={tmp_path} has no bin/java"
    assert done.stderr == f"{said}: install a JDK, or set JAVA_HOME\n"


def test_settings_are_handed_on() -> None:
    jars = ["a.jar,b.jar", "c.jar"]
    options = SparkOptions(master="local[2]", conf=["spark.a=1", " spark.b = x=y"], jars=jars, verbose=True)
    settings = settings_of(options, ("d.jar",))
    assert (settings.master, settings.verbose) == ("local[2]", True)
    assert settings.conf == {"spark.a": "1", "spark.b": " x=y"}
    assert settings.jars == ("a.jar", "b.jar", "c.jar", "d.jar")
    with pytest.raises(UsageError, match="--conf =1"):
        conf_of(SparkOptions(conf=["=1"]))


JAVA = (
    "An error occurred while calling o42.collect.\n: org.apache.spark.SparkException: Job aborted due to "
    "stage failure: Task 0 failed\n\tat org.apache.spark.X.y(Z.scala:1)\nCaused by: "
    "java.lang.RuntimeException: outer\n\tat a.B.c(D.java:2)\nCaused by: java.lang.ClassNotFoundException: "
    "Class org.apache.hadoop.fs.s3a.S3AFileSystem not found\n\t... 30 more\n"
)
PYTHON = (
    'Traceback (most recent call last):\n  File "worker.py", line 1, in main\n    process()\n'
    "FileNotFoundError: [Errno 2] No such file or directory: '/x'\n"
)


def test_the_cause_is_shown_without_its_stacks() -> None:
    assert cause_of("") == "it gives no reason"
    analysis = "[PATH_NOT_FOUND] Path does not exist: file:/x."
    assert cause_of(f"{analysis}\n\n") == analysis
    assert cause_of(JAVA) == "Class org.apache.hadoop.fs.s3a.S3AFileSystem not found"
    assert cause_of(PYTHON) == "[Errno 2] No such file or directory: '/x'"
    assert cause_of(f"Error: {'x' * 1000}") == "x" * 500 + "…"


def test_every_step_has_its_own_words() -> None:
    texts = {step_text(HistoryProgress(step=step)) for step in HistoryStep}
    assert len(texts) == len(HistoryStep)
    assert not texts & {step.value for step in HistoryStep}
    progress = HistoryProgress(step=HistoryStep.EVENTS, done=1, total=4, records=12_345)
    assert step_text(progress) == "decoding records: 25 %, 12,345 records"
