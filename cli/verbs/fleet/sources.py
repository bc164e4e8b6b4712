"""Find the logs that the options name."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.errors import CommandError, UsageError
from cli.output import notice
from cli.selection import split_list
from cli.verbs.fleet.options import LiveOptions, LogOptions, SparkOptions
from cli.verbs.fleet.spark import conf_of
from coordinator.store.partition_files import OFFSETS_TOPIC

if TYPE_CHECKING:
    from cli.options import SourceOptions
    from pipeline.decode.records import LogReader
    from pipeline.history import Logs
    from pipeline.session import SparkSession
    from wire.client.config.config_file import Properties

BOOTSTRAP = "kafka.bootstrap.servers"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPaths:
    """Logs in files. `names` are topic names by id, in addition to those in the logs. `snapshots` replace logs."""

    paths: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    snapshots: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        return self.paths

    @property
    def size(self) -> int | None:
        """Size of the segments in bytes; None if they are not local."""
        if any("://" in path for path in self.paths):
            return None
        segments = f"{OFFSETS_TOPIC}-*/*.log"
        logs = {path: path.is_dir() and any(path.glob("*.log")) for path in map(Path, self.paths)}
        return sum(bytes_below(path, "*.log" if partition else segments) for path, partition in logs.items())

    def jars(self, _options: SparkOptions) -> tuple[str, ...]:
        return ()

    def logs(self) -> Logs:
        from pipeline.history import Logs

        return Logs(paths=self.paths, names=self.names)

    def open(self, _spark: SparkSession) -> Logs:
        return self.logs()


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTopic:
    """The topic of a live cluster. `client` are options of Spark's Kafka source, including secrets."""

    bootstrap: str
    client: Mapping[str, str]
    size: None = None  # The size is not known before the topic is read

    @property
    def names(self) -> Mapping[str, str]:
        """The cluster provides all names with its records."""
        return {}

    @property
    def places(self) -> tuple[str, ...]:
        return (self.bootstrap,)

    def jars(self, options: SparkOptions) -> tuple[str, ...]:
        """The jars of Spark's Kafka source, fetched if necessary. Raises MissingKafkaSource."""
        from pipeline.sources.jars import kafka_jars

        named = split_list(options.jars)
        return kafka_jars(named, conf_of(options))[len(named) :]

    def open(self, spark: SparkSession) -> LogReader:
        from pipeline.live import live_reading

        return live_reading(spark, self.bootstrap, self.client)


def bytes_below(path: Path, pattern: str) -> int:
    """The size of a file, or of the files below a directory that match; deleted files count as 0."""
    total = 0
    for file in (path,) if path.is_file() else path.rglob(pattern):
        with suppress(OSError):
            total += file.stat().st_size
    return total


def source_of(options: LogOptions, *, snapshots_too: bool = False) -> LogPaths | LiveTopic:
    """The source to read, by default the data directory; a snapshot is accepted only with `snapshots_too`."""
    if options.log_dirs:
        for name in ("bootstrap_server", "command_config", "embedded", "context"):
            if getattr(options, name) is not None:
                other = f"--{name.replace('_', '-')}"
                raise UsageError(f"--log-dir and {other} name different sources; give one")
        return _paths(tuple(dict.fromkeys(options.log_dirs)), options.topics_file)
    named = asdict(options)
    del named["log_dirs"]
    resolved = _resolve(named)
    file = resolved.snapshot
    if file is None:
        return _resolved(resolved)
    if not snapshots_too:
        raise UsageError(f"{file} is a snapshot, which has no history; name a log or a live cluster")
    return LogPaths(snapshots=(str(file),))


def live_of(options: LiveOptions) -> LiveTopic:
    resolved = _resolve(asdict(options))
    if resolved.bootstrap_server is None and resolved.command_config is None:
        raise UsageError("only a live cluster can be followed: give --bootstrap-server")
    return _live(resolved)


def _resolve(named: Mapping[str, Any]) -> SourceOptions:
    from cli.options import SourceOptions
    from cli.sources.contexts.resolve import resolve_source

    resolved = resolve_source(SourceOptions(**named))
    if resolved.place is not None and resolved.place.warning is not None:
        notice(resolved.place.warning)
    return resolved


def check_snapshots(paths: tuple[str, ...]) -> None:
    """CommandError for a local path that does not exist, before Spark is started."""
    for path in paths:
        if "://" not in path and not Path(path).exists():
            raise CommandError(f"{path} does not exist")


def _resolved(source: SourceOptions) -> LogPaths | LiveTopic:
    from cli.selection import data_directory, is_log_directory

    live = source.bootstrap_server is not None or source.command_config is not None
    if live and source.embedded is not None:
        raise UsageError("--embedded and a live cluster are different sources; give one")
    if live:
        return _live(source)
    if source.log_dirs:
        return _paths(tuple(map(str, source.log_dirs)), source.topics_file)
    if source.topics_file is not None:
        raise UsageError("--topics needs --log-dir: it applies to a broker's log only")
    directory = source.embedded or data_directory()
    if not is_log_directory(directory):
        raise CommandError(
            f"{directory} contains no groups; name a source (--log-dir, --bootstrap-server, --embedded), "
            "or run `kohort demo` to create a sample fleet in it"
        )
    return LogPaths(paths=(str(directory),))


def _paths(paths: tuple[str, ...], topics_file: Path | None) -> LogPaths:
    _check_local([Path(path) for path in paths if "://" not in path])
    if topics_file is None:
        return LogPaths(paths=paths)
    from cli.sources.log_directories import read_topics_file
    from wire.uuids import format_uuid

    names = {format_uuid(topic.id): topic.name for topic in read_topics_file(topics_file) if topic.id}
    return LogPaths(paths=paths, names=names)


def _check_local(paths: list[Path]) -> None:
    """CommandError for a directory without a log, with the probable one, before Spark is started."""
    from cli.sources.log_directories import check_log_directories, list_directory, partition_of

    directories = []
    for path in paths:
        if not path.exists():
            raise CommandError(f"{path} does not exist")
        if path.is_dir() and partition_of(path.resolve()) is None:
            directories.append(path)
        elif path.is_dir():
            list_directory(path)
    if directories:
        _, notices = check_log_directories(directories)
        for text in notices:
            notice(text)


def _live(source: SourceOptions) -> LiveTopic:
    """The topic of the cluster that the options or a context name. Raises CommandError: the context is for another."""
    properties = _client_properties(source)
    client: dict[str, str] = {}
    if properties is not None:
        from pipeline.sources.client_properties import client_options

        client = client_options(properties)
        for text in properties.remarks:
            notice(text)
    servers = source.bootstrap_server or client.get(BOOTSTRAP)
    if servers is None:
        raise UsageError(f"{source.command_config} names no bootstrap.servers; give --bootstrap-server")
    if source.place is not None and source.place.cluster_id is not None:
        from cli.selection import source_of

        source_of(source).close()
    client.pop(BOOTSTRAP, None)
    return LiveTopic(bootstrap=servers, client=client)


def _client_properties(source: SourceOptions) -> Properties | None:
    from wire.client.config.properties import known_properties, read_properties

    if source.command_config is not None:
        return read_properties(source.command_config)
    properties = None if source.place is None else source.place.properties
    if properties is None:
        return None
    return known_properties(properties.context.origin.file, properties.entries())
