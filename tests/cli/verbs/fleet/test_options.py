"""`kohort fleet`: what is refused before Spark starts, what is said where Spark cannot be; how far a run has come."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--as-of", "-1d"], "--as-of needs --group: it shows named groups as they were then"),
        (["--as-of", "soon", "--group", "g"], "--as-of: 'soon' is not a time"),
        (["--since", "yesterday"], "--since: 'yesterday' is not a time"),
        (["--since", "-1h", "--until", "-2h"], "--since is after --until"),
        (["--svg", "x.svg"], "--svg draws the rebalances of one group; name it with --group"),
        (["--svg", "x.svg", "--group", "a", "--group", "b"], "--svg draws the rebalances of one group"),
        (
            ["--report", "no/such/place.html"],
            "--report no/such/place.html: the directory no/such does not exist",
        ),
        (["--report", "."], "--report .: is a directory; name a file in it"),
        (["--conf", "spark.cores.max"], "--conf spark.cores.max: write NAME=VALUE"),
        (["--master", "spark://a:7077"], "the workers of spark://a:7077 write the tables: give --out"),
        (["--topics", "t.txt", "--snapshot", "s.yaml"], "no such option: --snapshot"),
        (["-b", "a:1", "--log-dir", "d"], "--log-dir and --bootstrap-server name different sources"),
        (["--context", "c", "--log-dir", "d"], "--log-dir and --context name different sources"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_nonsense_is_refused_at_once(kohort: Kohort, sample: Path, options: list[str], message: str) -> None:
    named = any(option in ("-b", "--log-dir", "--context") for option in options)
    source = [] if named else ["--embedded", str(sample)]
    kohort.quick("fleet history", *source, *options).assert_refused(message)


def test_keys_of_other_programs_in_a_properties_file_are_named(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("schema.registry.url=http://registry\n")
    answer = kohort.quick("fleet history --command-config", file)
    answer.assert_refused(f"{file} names no bootstrap.servers")
    assert "schema.registry.url (line 1)" in answer.stderr


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


@pytest.mark.parametrize("command", ["history", "audit"])
def test_a_directory_that_is_no_log(kohort: Kohort, sample: Path, tmp_path: Path, command: str) -> None:
    inside = tmp_path / "above" / "data"
    inside.parent.mkdir()
    inside.symlink_to(sample)
    kohort.quick("fleet", command, "--log-dir", inside.parent).assert_refused(
        f"did you mean {inside}?", status=3
    )
    nothing = kohort.quick("fleet", command, "--log-dir", tmp_path / "nothing")
    assert (nothing.status, nothing.stderr) == (3, f"kohort: {tmp_path}/nothing does not exist\n")
    kohort.quick("fleet", command).assert_said(3, "contains no groups; name a source")


@pytest.mark.parametrize(
    ("command", "variable", "value", "said"),
    [
        ("history", "SNAPSHOT", "s.yaml", "s.yaml is a snapshot, which has no history"),
        ("audit", "BOOTSTRAP_SERVER", "127.0.0.1:1", "`kohort snapshot -o FILE` saves a live cluster for --snapshots"),
    ],
)  # fmt: skip
def test_a_source_of_the_environment_that_it_does_not_read(
    kohort: Kohort, command: str, variable: str, value: str, said: str
) -> None:
    kohort.quick("fleet", command, **{f"KOHORT_{variable}": value}).assert_refused(said)


def test_snapshots_that_are_not_there(kohort: Kohort, tmp_path: Path) -> None:
    answer = kohort.quick("fleet audit --snapshots", tmp_path / "none")
    assert (answer.status, answer.stderr) == (3, f"kohort: {tmp_path}/none does not exist\n")


@pytest.mark.parametrize("command", ["history", "audit"])
def test_without_java_the_next_step_is_said(
    kohort: Kohort, sample: Path, tmp_path: Path, command: str
) -> None:
    done = subprocess.run(
        [kohort.executable, "fleet", command, "--embedded", sample],
        env={**kohort.env, "JAVA_HOME": str(tmp_path)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"kohort: Spark needs Java 17 or later, and JAVA_HOME={tmp_path} has no bin/java: "
        "install a JDK, or set JAVA_HOME\n"
    )


def test_settings_are_handed_on() -> None:
    options = SparkOptions(
        master="local[2]", conf=["spark.a=1", " spark.b = x=y"], jars=["a.jar,b.jar", "c.jar"], verbose=True
    )
    settings = settings_of(options, ("d.jar",))
    assert settings.master == "local[2]"
    assert settings.conf == {"spark.a": "1", "spark.b": " x=y"}
    assert settings.jars == ("a.jar", "b.jar", "c.jar", "d.jar")
    assert settings.verbose
    with pytest.raises(UsageError, match="--conf =1"):
        conf_of(SparkOptions(conf=["=1"]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it gives no reason"),
        (
            "[PATH_NOT_FOUND] Path does not exist: file:/x.\n\n",
            "[PATH_NOT_FOUND] Path does not exist: file:/x.",
        ),
        (
            "An error occurred while calling o42.collect.\n: org.apache.spark.SparkException: Job aborted due to "
            "stage failure: Task 0 failed\n\tat org.apache.spark.X.y(Z.scala:1)\nCaused by: "
            "java.lang.RuntimeException: outer\n\tat a.B.c(D.java:2)\nCaused by: java.lang.ClassNotFoundException: "
            "Class org.apache.hadoop.fs.s3a.S3AFileSystem not found\n\t... 30 more\n",
            "Class org.apache.hadoop.fs.s3a.S3AFileSystem not found",
        ),
        (
            "Traceback (most recent call last):\n"
            '  File "worker.py", line 1, in main\n'
            "    process()\n"
            "FileNotFoundError: [Errno 2] No such file or directory: '/x'\n",
            "[Errno 2] No such file or directory: '/x'",
        ),
        (f"Error: {'x' * 1000}", "x" * 500 + "…"),
    ],
    ids=["nothing", "analysis", "java", "python", "long"],
)
def test_the_cause_is_shown_without_its_stacks(text: str, said: str) -> None:
    assert cause_of(text) == said


def test_every_step_has_its_own_words() -> None:
    texts = {step_text(HistoryProgress(step=step)) for step in HistoryStep}
    assert len(texts) == len(HistoryStep)
    assert not texts & {step.value for step in HistoryStep}
    progress = HistoryProgress(step=HistoryStep.EVENTS, done=1, total=4, records=12_345)
    assert step_text(progress) == "decoding records: 25 %, 12,345 records"
