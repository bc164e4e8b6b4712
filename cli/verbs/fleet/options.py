"""Options that the commands about a fleet share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

SPARK_PANEL = "Spark"
LOGS_PANEL = "What is read"


TopicsFile = Annotated[
    Path | None,
    typer.Option(
        "--topics",
        metavar="FILE",
        help="With --log-dir: names of topic ids, from kafka-topics --describe or a snapshot.",
        rich_help_panel=LOGS_PANEL,
    ),
]
Embedded = Annotated[
    Path | None,
    typer.Option(
        "--embedded",
        metavar="DIR",
        help="The embedded coordinator's data directory (the default).",
        rich_help_panel=LOGS_PANEL,
    ),
]
BootstrapServer = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-server",
        "-b",
        metavar="HOST:PORT,…",
        help="A live cluster: its __consumer_offsets, through Spark's Kafka source.",
        rich_help_panel=LOGS_PANEL,
    ),
]
CommandConfig = Annotated[
    Path | None,
    typer.Option(
        "--command-config",
        metavar="FILE",
        help="Client properties for the live cluster, Java-style or librdkafka's.",
        rich_help_panel=LOGS_PANEL,
    ),
]
ContextName = Annotated[
    str | None,
    typer.Option(
        "--context",
        metavar="NAME",
        help="A source that the configuration file names: see kohort context list.",
        rich_help_panel=LOGS_PANEL,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOptions:
    """Which live cluster is read."""

    bootstrap_server: BootstrapServer = None
    command_config: CommandConfig = None
    context: ContextName = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """Which logs are read."""

    log_dirs: Annotated[
        list[str] | None,
        typer.Option(
            "--log-dir",
            metavar="DIR",
            help="A broker's log directory, or part of it: a path, s3a://… or hdfs://…; repeatable.",
            rich_help_panel=LOGS_PANEL,
        ),
    ] = None
    bootstrap_server: BootstrapServer = None
    command_config: CommandConfig = None
    embedded: Embedded = None
    context: ContextName = None
    topics_file: TopicsFile = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Which snapshots and logs are audited."""

    snapshots: Annotated[
        list[str] | None,
        typer.Option(
            "--snapshots",
            metavar="DIR",
            help="Snapshots of any clusters: a directory with all below it, or a file; repeatable.",
            rich_help_panel=LOGS_PANEL,
        ),
    ] = None
    log_dirs: Annotated[
        list[str] | None,
        typer.Option(
            "--log-dir",
            metavar="DIR",
            help="A broker's log directory: a path, s3a://… or hdfs://…; repeatable, all of one cluster.",
            rich_help_panel=LOGS_PANEL,
        ),
    ] = None
    embedded: Embedded = None
    topics_file: TopicsFile = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkOptions:
    """Where Spark works, and how."""

    master: Annotated[
        str | None,
        typer.Option(
            "--master",
            metavar="URL",
            help="Spark's master: spark://HOST:7077, yarn, …; by default this machine, local[*].",
            rich_help_panel=SPARK_PANEL,
        ),
    ] = None
    conf: Annotated[
        list[str] | None,
        typer.Option(
            "--conf",
            metavar="NAME=VALUE",
            help="A setting of Spark, as spark.driver.memory=4g; repeatable.",
            rich_help_panel=SPARK_PANEL,
        ),
    ] = None
    jars: Annotated[
        list[str] | None,
        typer.Option(
            "--jars",
            metavar="JAR,…",
            help="Jars for Spark, as those of its Kafka source or of S3A.",
            rich_help_panel=SPARK_PANEL,
        ),
    ] = None
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "--spark-log", help="Show Spark's own log.", rich_help_panel=SPARK_PANEL),
    ] = False
