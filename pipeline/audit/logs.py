"""Groups from brokers' logs, a task for each partition of `__consumer_offsets`, which has all records of a group. A
task loads its partition like `kohort describe --log-dir`, with all its copies; files that are not on a local disk
are copied to the task's disk meanwhile. Members of consumer groups refer to topics by id: before any group is
judged, the names in each partition's records are gathered, and the brokers' own directories of topics are read."""

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from pyarrow import fs
from pyspark.sql import DataFrame, SparkSession

from coordinator.store.copies import Notice
from coordinator.store.described_groups import described_group, sized_topics, with_default
from coordinator.store.loader import LoadedLog, load
from coordinator.store.partition_files import OFFSETS_TOPIC
from coordinator.store.topic_names import KnownTopic, KnownTopics
from groups.described import named_partitions
from groups.model import Cluster, Group, GroupType, Partitions
from groups.snapshot import Snapshot
from pipeline.audit.work import GROUPS_PER_CHUNK, WORK, each_row, failed, work_of
from pipeline.history import Logs, clusters_of
from pipeline.sources.files import UNKNOWN_PARTITION, partition_of
from pipeline.sources.filesystem import absolute, child, opened
from pipeline.sources.names import directory_names
from pipeline.tables.schemas import BINARY, STRING, TableRow, table
from wire.uuids import format_uuid, parse_uuid

LOADED = table(
    ("groups", BINARY, True),  # a tuple of Group, with topic ids instead of names if the records have ids
    ("heard", BINARY, True),  # the topics in records: KnownTopic by id
    ("file", STRING, True),
    ("reason", STRING, True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """The copies of a partition, absolute paths: directories, or single segments."""

    partition: int
    paths: tuple[str, ...]


def list_partitions(paths: Sequence[str], options: Mapping[str, str]) -> list[Copies]:
    """The partitions in log directories, directories of partitions and single files. `options` are Hadoop's. Raises
    FileNotFoundError: a path does not exist. Raises OSError."""
    copies: dict[int, dict[str, None]] = {}
    for path in map(absolute, paths):
        system, inside = opened(path, options)
        info = system.get_file_info(inside)
        if info.type is fs.FileType.NotFound:
            raise FileNotFoundError(f"{path} does not exist")
        number = partition_of(path.rstrip("/").rpartition("/")[0] if info.is_file else path)
        if info.is_file or number != UNKNOWN_PARTITION:
            copies.setdefault(max(number, 0), {}).setdefault(path)
            continue
        for entry in system.get_file_info(fs.FileSelector(inside)):
            number = partition_of(entry.base_name)
            if number != UNKNOWN_PARTITION and entry.type is fs.FileType.Directory:
                copies.setdefault(number, {}).setdefault(child(path, entry.base_name))
    return [Copies(partition=number, paths=tuple(copies[number])) for number in sorted(copies)]


def log_work(
    spark: SparkSession, logs: Logs, options: Mapping[str, str], *, all_topics: bool
) -> tuple[DataFrame, DataFrame]:
    """Rows of WORK, and the rows of LOADED that they come from: Spark caches those, because they are needed twice."""
    copies = list_partitions(logs.paths, options)
    numbers = spark.range(0, len(copies), 1, max(1, len(copies)))
    loaded = each_row(numbers, lambda row: _loaded(copies[row["id"]], options), LOADED).persist()
    heard: dict[UUID, KnownTopic] = {}
    for row in loaded.where("heard is not null").select("heard").toLocalIterator():
        heard |= pickle.loads(row["heard"])  # noqa: S301
    topics = directory_names([absolute(path) for path in logs.paths], options, heard)
    named = {parse_uuid(topic_id): name for topic_id, name in logs.names.items()}
    topics = replace(topics, names={**topics.names, **named})
    source = ", ".join(logs.paths)
    cluster = Cluster(id=next(iter(clusters_of(logs.paths)), None), features=topics.features)
    return each_row(loaded, _worker(source, cluster, topics, all_topics), WORK), loaded


def _loaded(copies: Copies, options: Mapping[str, str]) -> Iterator[TableRow]:
    with TemporaryDirectory(prefix="kohort-audit-") as scratch:
        places: dict[str, str] = {}
        directories = []
        for number, path in enumerate(copies.paths):
            directory = Path(scratch) / str(number)
            directory.mkdir()
            directories.append(directory)
            target = directory / f"{OFFSETS_TOPIC}-{copies.partition}"
            try:
                _make_local(path, target, options)
            except OSError as error:
                yield {"file": path, "reason": f"cannot be read: {error}"}
            places[str(target)] = path
        log = load(directories)
        yield from _rows(log, places)


def _make_local(path: str, target: Path, options: Mapping[str, str]) -> None:
    """Make a partition's directory, or a single segment, available at a local place."""
    system, inside = opened(path, options)
    info = system.get_file_info(inside)
    if isinstance(system, fs.LocalFileSystem):
        if info.is_file:
            target.mkdir()
            (target / Path(inside).name).symlink_to(inside)
        else:
            target.symlink_to(inside, target_is_directory=True)
        return
    target.mkdir()
    entries = [info] if info.is_file else system.get_file_info(fs.FileSelector(inside))
    systems = {"source_filesystem": system, "destination_filesystem": fs.LocalFileSystem()}
    for entry in entries:
        if entry.is_file and ".log" in entry.base_name:
            fs.copy_files(entry.path, str(target / entry.base_name), **systems)


def _rows(log: LoadedLog, places: Mapping[str, str]) -> Iterator[TableRow]:
    groups: list[Group] = []
    for name in sorted({*log.state.groups, *log.others}):
        group, oddities = described_group(log.state, log.others, name, {})
        if group is not None:
            groups.append(with_default(group))
        for oddity in oddities:
            yield {"file": next(iter(places.values())), "reason": f"{oddity.subject}: {oddity.message}"}
    for start in range(0, len(groups), GROUPS_PER_CHUNK):
        yield {"groups": pickle.dumps(tuple(groups[start : start + GROUPS_PER_CHUNK]))}
    if log.named_topics:
        yield {"heard": pickle.dumps(dict(log.named_topics))}
    for notice in log.notices:
        if notice.file is not None:
            where = "" if notice.position is None else f"byte {notice.position}: "
            yield {"file": _place(notice, places), "reason": f"{where}{notice.message}"}


def _place(notice: Notice, places: Mapping[str, str]) -> str:
    """The given name of a file, instead of the name of the task's copy."""
    name = str(notice.file)
    for directory, path in places.items():
        if name.startswith(directory):
            rest = name.removeprefix(directory)
            return path if path.endswith(rest) else path + rest
    return name


def _worker(
    source: str, cluster: Cluster, topics: KnownTopics, all_topics: bool
) -> Callable[[TableRow], Iterator[TableRow]]:
    names = {format_uuid(topic_id): name for topic_id, name in topics.names.items()}
    sized = {topic.name: topic for topic in sized_topics(topics.topics.values())}

    def work(row: TableRow) -> Iterator[TableRow]:
        if row["reason"] is not None:
            yield failed(source, row["file"] or source, row["reason"])
        elif row["groups"] is not None:
            groups = {group.id: _named(group, names) for group in pickle.loads(row["groups"])}  # noqa: S301
            snapshot = Snapshot(cluster=cluster, topics=sized, groups=groups)
            yield from work_of(source, snapshot, all_topics=all_topics)

    return work


def _named(group: Group, names: Mapping[str, str]) -> Group:
    """The group with names instead of topic ids, which only some types of groups have."""
    if group.type not in (GroupType.CONSUMER, GroupType.SHARE):
        return group
    members = tuple(
        replace(member, owned=_renamed(member.owned, names), target=_renamed(member.target, names))
        for member in group.members
    )
    return replace(group, members=members)


def _renamed(partitions: Partitions | None, names: Mapping[str, str]) -> Partitions | None:
    if partitions is None:
        return None
    return named_partitions((names.get(topic, topic), None, numbers) for topic, numbers in partitions.items())
