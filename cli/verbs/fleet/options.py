"""The options of `kohort fleet`: the logs and snapshots to read, and where Spark runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated

from cli.errors import UsageError
from cli.options import option

_spark, _logs = (partial(option, rich_help_panel=panel) for panel in ("Spark", "Logs"))
TopicsFile = Annotated[
    Path | None,
    _logs(
        "--topics", "With --log-dir: topic ids and names, from kafka-topics --describe or a snapshot.", "FILE"
    ),
]
Embedded = Annotated[
    Path | None, _logs("--embedded", "The embedded coordinator's data directory (the default).", "DIR")
]
BootstrapServer = Annotated[
    str | None,
    _logs(
        "--bootstrap-server -b",
        "Bootstrap servers of a live cluster, read through Spark's Kafka source.",
        "HOST:PORT,…",
    ),
]
CommandConfig = Annotated[
    Path | None,
    _logs("--command-config", "Client properties file, as for Java clients or librdkafka.", "FILE"),
]
ContextName = Annotated[
    str | None, _logs("--context", "Context to use; kohort context list shows all.", "NAME")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOptions:
    bootstrap_server: BootstrapServer = None
    command_config: CommandConfig = None
    context: ContextName = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    log_dirs: Annotated[
        list[str] | None,
        _logs(
            "--log-dir",
            "A broker's log directory, or part of it: a path, s3a://… or hdfs://…; repeatable.",
            "DIR",
        ),
    ] = None
    bootstrap_server: BootstrapServer = None
    command_config: CommandConfig = None
    embedded: Embedded = None
    context: ContextName = None
    topics_file: TopicsFile = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    snapshots: Annotated[
        list[str] | None,
        _logs(
            "--snapshots",
            "Snapshots of any clusters: a directory with all below it, or a file; repeatable.",
            "DIR",
        ),
    ] = None
    log_dirs: Annotated[
        list[str] | None,
        _logs(
            "--log-dir",
            "A broker's log directory: a path, s3a://… or hdfs://…; repeatable, all of one cluster.",
            "DIR",
        ),
    ] = None
    embedded: Embedded = None
    topics_file: TopicsFile = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkOptions:
    master: Annotated[
        str | None,
        _spark(
            "--master",
            "Spark's master: spark://HOST:7077, yarn, …; by default this machine, local[*].",
            "URL",
        ),
    ] = None
    conf: Annotated[
        list[str] | None,
        _spark("--conf", "Setting of Spark, such as spark.driver.memory=4g; repeatable.", "NAME=VALUE"),
    ] = None
    jars: Annotated[
        list[str] | None,
        _spark("--jars", "Jars for Spark, such as those of its Kafka source or of S3A.", "JAR,…"),
    ] = None
    verbose: Annotated[bool, _spark("--verbose --spark-log", "Show Spark's own log.")] = False


Vary = Annotated[
    list[str] | None,
    option("--vary", "Play with each of these values; repeatable: every combination.", "NAME=VALUE,…"),
]
MOST_COMBINATIONS = 10_000


def combinations_of(vary: Sequence[str], *, of: int = 1) -> tuple[Mapping[str, str], ...]:
    """Every combination of the values of `--vary`, a single empty one without; times `of` they are limited."""
    values: dict[str, list[str]] = {}
    for text in vary:
        name, _, listed = text.partition("=")
        choices = list(dict.fromkeys(filter(None, listed.split(","))))
        if not name or not choices:
            raise UsageError(f"--vary {text}: write NAME=VALUE,…, such as session.timeout.ms=10000,45000")
        if name in values:
            raise UsageError(f"--vary {name} is given twice: list all values in one")
        values[name] = choices
    if (count := of * prod(map(len, values.values()))) > MOST_COMBINATIONS:
        raise UsageError(f"{count:,} combinations are too many: at most {MOST_COMBINATIONS:,}")
    return tuple(dict(zip(values, combination, strict=True)) for combination in product(*values.values()))
