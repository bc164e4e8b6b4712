"""Set up the server of `kohort serve` from its command line."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import CommandError, UsageError
from cli.output import notice, write_out
from cli.verbs.serve.options import ServeOptions
from coordinator.store.disk import FsyncPolicy
from groups.counts import counted
from groups.times import seconds_text
from wire.client.security import SecurityProtocol

if TYPE_CHECKING:
    from coordinator.server.cluster import Cluster
    from coordinator.server.security.addresses import Advertised, ListenAddress
    from coordinator.server.security.security import Security
    from coordinator.store.data_directory import RecoveredContent
    from wire.client.address import Address

PORTS = 1 << 16
DEFAULT_FSYNC = FsyncPolicy.ALWAYS


def run_server(options: ServeOptions) -> None:
    from coordinator.configs.properties import OURS, without_effect
    from coordinator.configs.release import RELEASE
    from coordinator.server.listener import serve
    from coordinator.server.security.settings import EFFECTIVE

    address = listen_address(options.listen, options.brokers)
    readers = None if options.metrics is None else metrics_address(options.metrics)
    settings = given_settings(options.config_file, options.config or [])
    if options.release is not None:
        settings[RELEASE] = options.release.value
    topics = options.topic or []
    timeline = None
    if options.faults is not None or options.scenario is not None:
        from cli.verbs.serve.timeline import read_timeline

        timeline = read_timeline(options.faults, options.scenario)
        settings = {**timeline.settings, **settings}
        topics = [*timeline.topics, *topics]
    security, advertised, warnings = prepare_security(address, options.advertise, settings, options.access)
    began = time.monotonic()
    cluster = prepare_cluster(settings, topics, options.data, options.fsync, security, options.brokers)
    useless = without_effect(settings, OURS | EFFECTIVE)
    notices = [*warnings, *useless, *(timeline.remarks if timeline else ())]
    if options.data is None or cluster.recovered is None:
        lost = "records, groups, offsets and topics are in memory only, and are lost when this process exits"
        notices.append(lost)
    else:
        notices += recovery_notices(options.data, cluster.recovered, time.monotonic() - began)
    for line in (*notices, *acl_notices(cluster)):
        notice(line)

    def listening(addresses: Sequence[Address]) -> None:
        write_out(lambda out: out.write(f"Listening on {','.join(map(str, addresses))}\n"))
        if timeline is not None:
            timeline.begin(cluster, notice)

    alongside: list[AbstractAsyncContextManager[object]] = [state_reports(cluster, notice)]
    if readers is not None:
        from coordinator.server.metrics import serving_metrics  # its library takes time to load

        def served(at: object) -> None:
            notice(f"metrics are served on http://{at}/metrics")

        alongside.append(serving_metrics(cluster, readers.host, readers.port, served))
    serve(cluster, address.host, address.port, listening, advertised, alongside)
    notice("stopped")


def listen_address(text: str, brokers: int = 1) -> ListenAddress:
    """The listen address of the first broker. UsageError if it is invalid."""
    from coordinator.server.security.addresses import parse_listen
    from wire.client.errors import InvalidAddress

    try:
        address = parse_listen(text)
    except InvalidAddress as error:
        raise UsageError(str(error)) from None
    if address.port and address.port + brokers > PORTS:
        raise UsageError(
            f"from port {address.port} on there are not enough ports for {brokers} brokers; use a lower port, or port 0"
        )
    return address


def metrics_address(text: str) -> ListenAddress:
    address = listen_address(text)
    if address.protocol is not SecurityProtocol.PLAINTEXT or not address.is_loopback:
        raise UsageError(
            f"metrics are served without encryption, on this machine only: --metrics 127.0.0.1:{address.port}"
        )
    return address


def prepare_security(
    listen: ListenAddress, advertise: str | None, options: Mapping[str, str], access: Path | None
) -> tuple[Security, Advertised | None, tuple[str, ...]]:
    """Users and ACLs, the advertised address, and notices. UsageError if something is invalid. Raises TlsFailed."""
    from coordinator.errors import InvalidSetting
    from coordinator.server.security.access_file import AccessFile, read_access_file
    from coordinator.server.security.addresses import check_reach, parse_advertised
    from coordinator.server.security.security import secure
    from coordinator.server.security.settings import parse_security
    from groups.yaml_files import TreeError
    from wire.client.errors import InvalidAddress

    try:
        settings = parse_security(listen.protocol, options)
        advertised = None if advertise is None else parse_advertised(advertise)
        check_reach(listen, settings, is_advertised=advertised is not None)
        file = AccessFile() if access is None else read_access_file(access)
    except (InvalidSetting, InvalidAddress, TreeError) as error:
        raise UsageError(str(error)) from None
    if listen.protocol.sasl and not file.passwords:
        raise UsageError(
            f"{listen.protocol.value} requires a login, but there are no users: add --access FILE"
        )
    return secure(settings, file), advertised, file.warnings


def given_settings(config_file: Path | None, config: Sequence[str]) -> dict[str, str]:
    """The settings of a broker's properties file, overridden by those of `name=value`. UsageError if one is invalid."""
    settings: dict[str, str] = {}
    if config_file is not None:
        from wire.client.config.config_file import ConfigFileError, read_text
        from wire.java_text import BadProperty, parse_properties

        try:
            entries = parse_properties(read_text(config_file))
        except BadProperty as error:
            raise UsageError(f"{config_file}, line {error.line}: {error}") from None
        except ConfigFileError as error:
            raise UsageError(str(error)) from None
        settings = {entry.key: entry.value for entry in entries}
    for text in config:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UsageError(f"{text!r} is not a setting: write NAME=VALUE")
        settings[name] = value
    return settings


def prepare_cluster(
    options: Mapping[str, str],
    topics: Sequence[str],
    data: Path | None = None,
    fsync: FsyncPolicy | None = None,
    security: Security | None = None,
    brokers: int = 1,
) -> Cluster:
    """A cluster with settings and topics (`name[:partitions]`), which continues from `data`. Raises StorageError."""
    from coordinator.configs.properties import parse_settings
    from coordinator.errors import InvalidSetting
    from coordinator.server.cluster import Cluster

    if fsync is not None and data is None:
        raise UsageError("--fsync needs a data directory: add --data DIR")
    try:
        settings, of_groups = parse_settings(options)
        partition_counts = _partition_counts(topics)
    except InvalidSetting as error:
        raise UsageError(str(error)) from None
    if data is None:
        cluster = Cluster(settings, of_groups, None, security, brokers=brokers)
        _make_topics(cluster, partition_counts)
        return cluster
    from coordinator.server.connection import KEPT_FREE, most_open_files
    from coordinator.store.data_directory import DataDirectory, StorageSettings

    files = most_open_files()
    if files < 2 * KEPT_FREE:
        raise CommandError(
            f"this process may open {files} files, and --data needs {2 * KEPT_FREE}: run `ulimit -n 1024`, "
            "or raise the limit of the service or container"
        )
    opened = DataDirectory.open(data, StorageSettings.of(settings, of_groups, fsync or DEFAULT_FSYNC))
    try:
        cluster = Cluster(settings, of_groups, opened, security, brokers=brokers)
        _make_topics(cluster, partition_counts)
    except BaseException:
        opened.abandon()
        raise
    return cluster


def recovery_notices(data: Path, recovered: RecoveredContent, seconds: float) -> list[str]:
    if not recovered.records:
        lines = [f"{data}: no groups in it yet; groups, offsets and topics are kept there from now on"]
    else:
        other_types = counted(recovered.other_types, "group")
        others = f" and {other_types} of other types" if recovered.other_types else ""
        how = "" if recovered.was_clean else "; it was not shut down cleanly"
        offsets, records = counted(recovered.offsets, "offset"), counted(recovered.records, "record")
        groups = f"{counted(recovered.groups, 'group')}{others} with {offsets} from {records}"
        lines = [f"{data}: recovered {groups} in {seconds_text(seconds)}{how}"]
    for torn in recovered.torn:
        where = f"{torn.file}, byte {torn.position}"
        lines.append(f"{where}: the last {torn.size:,} bytes were cut off: {torn.reason}")
    if recovered.unknown_records:
        unknown = counted(recovered.unknown_records, "record")
        lines.append(f"{unknown} of types that Kafka 4.4 does not know skipped")
    return lines


def acl_notices(cluster: Cluster) -> list[str]:
    """Notices of ACLs that clients created or deleted before the start, a line each."""
    acls = cluster.acls
    if cluster.security.authorizer is None:
        kept = len(acls.created) + len(acls.deleted)
        notices = {f"{counted(kept, 'change')} of ACLs by clients, and no ACLs count: docs/security.md": kept}
    else:
        added = f"{counted(len(acls.created), 'ACL')} of clients added"
        left_out = f"{counted(acls.left_out, 'ACL')} of the file left out, as clients deleted them"
        notices = {added: len(acls.created), left_out: acls.left_out}
    return [notice for notice, count in notices.items() if count]


def _make_topics(cluster: Cluster, partition_counts: Mapping[str, int]) -> None:
    """Create the missing topics. UsageError: one cannot be created, or exists with another partition count."""
    from coordinator.errors import RequestRefused

    for name, partitions in partition_counts.items():
        known = cluster.topics.image.topics.get(name)
        if known is None:
            try:
                cluster.topics.create(name, partitions)
            except RequestRefused as error:
                raise UsageError(str(error)) from None
        elif known.partitions != partitions:
            raise UsageError(
                f"topic {name} exists already with {known.partitions} partitions, not {partitions}"
            )


def _partition_counts(topics: Sequence[str]) -> dict[str, int]:
    """By topic; one if none is given. Raises InvalidSetting."""
    from cli.selection import split_list
    from coordinator.configs.settings import parse_integer

    parted = {}
    for text in split_list(topics):
        name, _, partitions = (part.strip() for part in text.partition(":"))
        if name in parted:
            raise UsageError(f"topic {name} is given twice")
        parted[name] = parse_integer(f"the number of partitions of {name}", partitions or "1", minimum=1)
    return parted


@asynccontextmanager
async def state_reports(cluster: Cluster, report: Callable[[str], object]) -> AsyncIterator[None]:
    """`report` gets the state in one line at every SIGUSR1; its seconds count from the entry of this context."""
    loop = asyncio.get_running_loop()
    began = time.monotonic()
    loop.add_signal_handler(signal.SIGUSR1, lambda: report(state_line(cluster, time.monotonic() - began)))
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGUSR1)


def state_line(cluster: Cluster, seconds: float) -> str:
    """`brokers=2/3 connections=12 groups=2 classic.Stable=1 …`: every key every time, except states without groups."""
    state, topics = cluster.groups.state, cluster.topics.image.topics.values()
    by_state = Counter(f"{group.type.value}.{group.state.value}" for group in state.groups.values())
    values = {
        "brokers": f"{len(cluster.present)}/{len(cluster.brokers)}",
        "connections": sum(
            broker.endpoint.connections for broker in cluster.present if broker.endpoint is not None
        ),
        "groups": len(state.groups),
        **dict(sorted(by_state.items())),
        "offsets": sum(map(len, state.offsets.values())),
        "topics": len(topics),
        "partitions": sum(topic.partitions for topic in topics),
        "requests": cluster.requests,
        "seconds": f"{seconds:.0f}",
    }
    return " ".join(f"{name}={value}" for name, value in values.items())
