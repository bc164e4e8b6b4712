"""The state that all brokers share. After a failed write all requests are refused, and the caller must stop it."""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from itertools import count as counter
from pathlib import Path
from uuid import uuid4
from weakref import WeakSet

from coordinator.configs.definitions import BROKER
from coordinator.configs.effective import BrokerConfigs, check_others, of_consumer_groups
from coordinator.configs.features import GROUP_VERSION, TRANSACTION_VERSION
from coordinator.configs.settings import BrokerSettings, Config
from coordinator.engine.engine import Engine
from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.errors import InvalidSetting, RequestRefused
from coordinator.partitions.directory import RecordDirectory
from coordinator.partitions.partitions import Partitions
from coordinator.server.broker import Broker, Session, no_sessions
from coordinator.server.faults.rules import Rules
from coordinator.server.group_coordinator import Coordinators, GroupCoordinator
from coordinator.server.journal import Journal, resolve
from coordinator.server.limits import Limits
from coordinator.server.log_manager import Compactor, RecordExpiry
from coordinator.server.meters import CoordinatorMeters
from coordinator.server.placement import Placement, Replicas
from coordinator.server.security.authorizer import StoredAcls
from coordinator.server.security.security import Security
from coordinator.server.stored_configs import StoredConfigs
from coordinator.server.topics import Topics
from coordinator.server.transactions import Transactions
from coordinator.store.data_directory import DataDirectory, RecoveredContent
from coordinator.store.directory_files import ConfigKind
from coordinator.store.log import SegmentLimits
from coordinator.store.partition_files import OFFSETS_TOPIC, TRANSACTIONS_TOPIC, partition_for
from coordinator.store.producers import EndTransactionMarker
from coordinator.store.records import encode_record
from coordinator.store.topic_log import TopicLog
from coordinator.transactions.coordinator import TransactionCoordinator
from coordinator.transactions.log import TransactionsLog
from coordinator.transactions.transaction import Transaction, TransactionState, TransactionVersion
from wire.acls import ConfigSource
from wire.errors import ErrorCode
from wire.log.errors import DamagedLog, StorageFailed, Unusable
from wire.uuids import format_uuid

_log = logging.getLogger(__name__)


class Cluster:
    """See the module. `brokers` are by node id; each has its own listener (`listener.Listener`)."""

    def __init__(
        self,
        settings: BrokerSettings,
        config: Config,
        data: DataDirectory | None = None,
        security: Security | None = None,
        *,
        brokers: int = 1,
    ) -> None:
        """Raises DamagedLog. Raises Unusable: the data directory cannot be used."""
        self.settings = settings
        self.config = self._given_config = config
        self.security = security or Security()
        self.acls = StoredAcls(self.security.authorizer, data)
        racks = _racks(settings, brokers)
        self.brokers = {node_id: Broker(node_id=node_id, rack=rack) for node_id, rack in racks.items()}
        self.placement = Placement(racks)
        self.failure: Exception | None = None  # the error after which nothing is served
        self.failed = asyncio.Event()
        self.group_settings: dict[str, dict[str, str]] = {}
        self.faults = Rules()
        self.limits = Limits()
        self.sessions: WeakSet[Session] = WeakSet()  # the sessions of all connections, to any broker
        self.requests = 0  # the requests received since the start, without logins
        self._began = time.time() - time.monotonic()
        self._data = data
        self._journal: Journal | None = None
        self._compactor: Compactor | None = None
        self._retention: RecordExpiry | None = None
        self.recovered: RecoveredContent | None = None
        self.cluster_id = format_uuid(uuid4()) if data is None else data.cluster_id
        # The time: larger than any version that an earlier process has written into a record.
        version = 0 if data is None else self.now_ms()
        self.topics = Topics(self.placement, racks, settings.default_replication_factor, data, version)
        # Deleted topics whose offsets may still exist; `start` has the engine remove them.
        known = [*self.topics.image.topics.values(), *(() if data is None else data.topics.deleted)]
        image = TopicImage.of(known, self.topics.image.version)
        self._engine = Engine(config, image, encode_record, matches_elsewhere=True)
        if data is not None:
            began = time.monotonic()
            self.recovered = data.recover(self._engine)
            for group, values in data.configs[ConfigKind.GROUP].items():
                try:
                    self._engine.restore_group_config(group, of_consumer_groups(values))
                except RequestRefused as error:
                    raise Unusable(f"{data.path}: the configs of group {group}: {error}") from None
                self.group_settings[group] = dict(values)
            loading_s = time.monotonic() - began
        self._transactions_log = None if data is None else _transactions_log(data, settings)
        counts = [config.offsets_topic_num_partitions, settings.transaction_state_log_num_partitions]
        ids = [uuid4(), uuid4()]
        if data is not None and self._transactions_log is not None:
            counts = [data.log.partitions, self._transactions_log.partitions]
            ids = [data.log.topic.topic_id, self._transactions_log.topic_id]
        factors = config.offsets_topic_replication_factor, settings.transaction_state_log_replication_factor
        self._internal: dict[str, TopicInfo] = {}
        internal = zip((OFFSETS_TOPIC, TRANSACTIONS_TOPIC), counts, ids, factors, strict=True)
        for name, count, topic_id, factor in internal:
            self._internal[name] = TopicInfo(name=name, id=topic_id, partitions=count)
            replicas = self.placement.choose(name, range(count), min(factor, len(self.brokers)))
            self.placement.put(name, replicas)
        partitions = self._internal[OFFSETS_TOPIC].partitions
        self.groups = GroupCoordinator(self._engine, self.now_ms, self.limits, CoordinatorMeters(settings))
        self.coordinators = Coordinators(
            self.placement, partitions, self._engine, self.now_ms, self.groups.deliver
        )
        if self.recovered is not None:  # all partitions were loaded at once
            self.coordinators.load_times.add(loading_s, partitions)
            if self.recovered.records:
                self.topics.show(self._internal[OFFSETS_TOPIC])
        if self._transactions_log is not None and self._transactions_log.recovered:
            self.topics.show(self._internal[TRANSACTIONS_TOPIC])
        self.configs = StoredConfigs(
            settings.given, settings.node_id, data, self.topics.image.topics, config.kohort_release
        )
        try:
            self._configure(self._config_with(self.configs.brokers.dynamic))
        except InvalidSetting as error:
            raise Unusable(f"the stored broker configs: {error}") from None
        self._records = None if data is None else RecordDirectory(data.path, was_clean=data.was_clean)
        logs: dict[str, TopicLog | TransactionsLog] = {}
        if data is not None and self._transactions_log is not None:
            logs = {OFFSETS_TOPIC: data.log.topic, TRANSACTIONS_TOPIC: self._transactions_log}
        self.partitions = Partitions(self.topics.image, self.configs.topics.of, self._records, logs)
        for name, log in logs.items():
            log.appended = partial(self.partitions.appended, self._internal[name].id)
        # Larger than any that an earlier process has assigned.
        self.producer_ids = counter(self.now_ms() * 1000)
        self.transactions = Transactions(
            TransactionCoordinator(
                settings,
                partial(next, self.producer_ids),
                () if self._transactions_log is None else self._transactions_log.recovered.values(),
                lambda: TransactionVersion(self.configs.features.levels[TRANSACTION_VERSION]),
            ),
            self._transactions_log,
            keep=self._keep,
            write_markers=self._write_markers,
            now_ms=self.now_ms,
        )

    @property
    def present(self) -> list[Broker]:
        return [self.brokers[node_id] for node_id in self.placement.present]

    @property
    def log_directory(self) -> Path | None:
        return None if self._data is None else self._data.path

    @property
    def serves_consumer_protocol(self) -> bool:
        """Whether the consumer protocol is enabled (KIP-848)."""
        protocols = self.settings.group_coordinator_rebalance_protocols
        return self.configs.features.levels[GROUP_VERSION] > 0 and "consumer" in protocols

    @property
    def controller(self) -> Broker:
        return self.present[0]

    def leader_of(self, topic: str, partition: int) -> Broker | None:
        return self.brokers.get(self.placement.leader(topic, partition))

    def coordinator_of(self, group: str) -> Broker | None:
        return self.brokers.get(self.coordinators.coordinator_of(group))

    def transaction_coordinator_of(self, transactional_id: str) -> Broker | None:
        """The coordinator of a producer's transactions; None while all brokers are down."""
        partition = partition_for(transactional_id, self._internal[TRANSACTIONS_TOPIC].partitions)
        return self.leader_of(TRANSACTIONS_TOPIC, partition)

    async def show_internal_topic(self, name: str) -> None:
        """Create the internal topic of a coordinator when a client first looks that coordinator up."""
        if name not in self.topics.image.topics:
            async with self.topics.changing:
                self.topics.show(self._internal[name])
                self.topics_changed()

    def move_coordinator(self, partition: int, to_broker: int, loading_ms: int = 0) -> None:
        """Have a broker lead an offsets partition, which loads for `loading_ms`. Raises RequestRefused."""
        if not 0 <= partition < self.coordinators.partitions:
            why = f"{OFFSETS_TOPIC} has the partitions 0 to {self.coordinators.partitions - 1}."
            raise RequestRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, why)
        self._present(to_broker)
        self.placement.move(OFFSETS_TOPIC, partition, to_broker)
        self._leaders_changed([(OFFSETS_TOPIC, partition)], loading_ms)

    def reassign(self, topic: str, partition: int, replicas: Replicas) -> None:
        """Assign other replicas to an existing partition. Raises RequestRefused."""
        has_new_leader = self.topics.reassign(self.topics.image.topics[topic], partition, replicas)
        self.topics_changed()
        if has_new_leader:
            self._leaders_changed([(topic, partition)], 0)

    def elect_preferred(self, topic: str, partition: int) -> bool:
        """Make the first replica the leader of an existing partition. Returns whether the leader has changed."""
        has_new_leader = self.placement.elect_preferred(topic, partition)
        if has_new_leader:
            self._leaders_changed([(topic, partition)], 0)
        return has_new_leader

    async def stop_broker(self, node_id: int, loading_ms: int = 0) -> None:
        """Stop a broker; do not await it over one of its connections. Raises RequestRefused: it is not running."""
        broker = self._present(node_id)
        if broker.endpoint is not None:
            await broker.endpoint.close()
        broker.fetch_sessions = no_sessions()
        self._leaders_changed(self.placement.stop(node_id, self._partition_counts()), loading_ms)

    async def restart_broker(self, node_id: int, loading_ms: int = 0) -> None:
        """Restart a stopped broker. Raises RequestRefused: it is running. Raises OSError: it cannot listen again."""
        broker = self.brokers.get(node_id)
        if broker is None or broker in self.present:
            raise RequestRefused(ErrorCode.INVALID_REQUEST, f"Broker {node_id} is not down.")
        if broker.endpoint is not None:
            await broker.endpoint.listen()
        self._leaders_changed(self.placement.restart(node_id, self._partition_counts()), loading_ms)

    def start(self) -> None:
        if self._data is not None:
            others = [log for log in (self._records, self._transactions_log) if log is not None]
            self._journal = Journal(self._data, self.settings.log_flush_interval_ms, self._fail, others)
            if self._transactions_log is not None:
                self._data.compacted[TRANSACTIONS_TOPIC] = self._transactions_log.compactions
            self._compactor = Compactor(self._data, self.partitions, self.settings, self.now_ms)
        self._retention = RecordExpiry(self.partitions, self.settings, self.now_ms)
        self.groups.start(self._journal)
        self.transactions.recover()
        if self._engine.topics != self.topics.image:
            self.topics_changed()

    def stop(self) -> None:
        self.coordinators.close()
        self.transactions.stop()
        self.groups.stop()

    async def close(self) -> None:
        """Stop, and close the data directory. Raises StorageFailed. Raises DamagedLog: closing it failed."""
        self.stop()
        self.limits.close()
        for cleaner in (self._compactor, self._retention):
            if cleaner is not None:
                await cleaner.close()
        if self._journal is not None:
            await self._journal.close()
        if self._data is None:
            return
        logs = [log for log in (self._records, self._transactions_log) if log is not None]
        if self.failure is not None:
            for log in (*logs, self._data):
                log.abandon()
            return
        try:
            for log in logs:
                log.close()
        except (StorageFailed, DamagedLog):
            self._data.abandon()
            raise
        self._data.close()

    def now_ms(self) -> int:
        """Milliseconds since 1970, by a clock that never goes back."""
        return int((self._began + time.monotonic()) * 1000)

    @property
    def calls_held(self) -> int:
        return 0 if self._journal is None else self._journal.held

    async def records_durable(self) -> None:
        """Wait until the records written to topics are as durable as the policy requires."""
        if self._journal is not None:
            kept: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._journal.write(lambda: None, partial(resolve, kept))
            await kept

    def topics_changed(self) -> None:
        """Update engine and partitions to the current topics, and remove the configs of deleted ones."""
        self.configs.retain_topics(self.topics.image.topics)
        self.partitions.set_topics(self.topics.image)
        result = self._engine.update_topics(self.topics.image, self.now_ms())
        # Only topics whose offsets are removed by this result.
        remove = None if self._data is None else partial(_in_thread, self._data.topics.file_remover())
        self.groups.deliver(result, remove)

    def set_broker_settings(self, broker: str, values: Mapping[str, str], *, dry_run: bool = False) -> None:
        """Replace the dynamic configs of a broker, or of all. Raises InvalidSetting. Raises RequestRefused."""
        config = self._config_with({**self.configs.brokers.dynamic, broker: values})
        if not dry_run:
            self.configs.set_broker(broker, values)
            self._configure(config)

    def _config_with(self, dynamic: Mapping[str, Mapping[str, str]]) -> Config:
        """The coordinator's effective settings with these dynamic configs. Raises InvalidSetting."""
        brokers, node_id = BrokerConfigs({}, dynamic), self.settings.node_id
        firsts = [(name, synonym) for name in _DYNAMIC for synonym in brokers.synonyms(name, node_id)[:1]]
        default = ConfigSource.DEFAULT
        values = {name: one.value for name, one in firsts if one.source is not default}
        return self._given_config.altered(values)

    def _configure(self, config: Config) -> None:
        self.config = config
        self._engine.configure(config)

    def set_group_settings(self, group: str, values: Mapping[str, str]) -> None:
        """Replace the configs of a group. Raises CoordinatorError: they are invalid, or cannot be stored."""
        self.check_group_settings(group, values)
        if self._data is not None:
            try:
                self._data.set_config(ConfigKind.GROUP, group, values)
            except StorageFailed as error:
                raise RequestRefused(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        self._engine.set_group_config(group, of_consumer_groups(values))
        self.group_settings[group] = dict(values)

    def check_group_settings(self, group: str, values: Mapping[str, str]) -> None:
        """As `set_group_settings`, but only the check."""
        try:
            check_others(values, self.configs.brokers, self.settings.node_id)
        except InvalidSetting as error:
            raise RequestRefused(ErrorCode.INVALID_CONFIG, str(error)) from None
        self._engine.check_group_config(group, of_consumer_groups(values))

    def _present(self, node_id: int) -> Broker:
        if node_id not in self.placement.present:
            raise RequestRefused(ErrorCode.BROKER_NOT_AVAILABLE, f"There is no broker {node_id} now.")
        return self.brokers[node_id]

    def _partition_counts(self) -> dict[str, int]:
        """The partition counts by topic, including topics that clients may not see yet."""
        internal = {name: topic.partitions for name, topic in self._internal.items()}
        return {**self.topics.image.counts, **internal}

    def _leaders_changed(self, changed: Collection[tuple[str, int]], loading_ms: int) -> None:
        for topic, number in changed:
            known = self.topics.image.topics.get(topic)
            with suppress(RequestRefused, OSError):  # its files are unusable for any leader
                partition = None if known is None else self.partitions.find(known.id, number)
                if partition is not None:
                    partition.begin_epoch(partition.leader_epoch + 1)
                    partition.notify()
        self.coordinators.reload((number for topic, number in changed if topic == OFFSETS_TOPIC), loading_ms)

    def _keep(self, append: Callable[[], object], release: Callable[[], None]) -> None:
        """Call `append` to write records; `release` is called once they are as durable as the policy requires."""
        if self._journal is None:
            append()
            release()
        elif self.failure is None:
            self._journal.write(append, release)

    def _write_markers(self, transaction: Transaction) -> None:
        """Write the markers of a transaction to its partitions. Raises StorageFailed."""
        producer, now_ms = transaction.producer, self.now_ms()
        committed = transaction.state is TransactionState.PREPARE_COMMIT
        offsets = []
        for topic, number in sorted(transaction.partitions):
            if topic == OFFSETS_TOPIC:
                offsets.append(number)
                continue
            known = self.topics.image.topics.get(topic)
            # A partition that a newer producer has written to has its marker; an unreadable one has no readers.
            with suppress(RequestRefused):
                partition = None if known is None else self.partitions.find(known.id, number)
                if partition is not None:
                    try:
                        partition.end_transaction(EndTransactionMarker(*producer, committed), now_ms)
                    except OSError as error:
                        raise StorageFailed("ending a transaction in", str(partition), error) from error
        if offsets and self._data is not None:
            self._data.log.topic.end_transaction(producer, offsets, now_ms, committed=committed)
        self._engine.end_transaction(producer.id, committed=committed)

    def _fail(self, error: Exception) -> None:
        self.failure = self.failure or error
        self.transactions.fail()
        self.groups.fail()
        self.failed.set()


def _racks(settings: BrokerSettings, brokers: int) -> dict[int, str | None]:
    """The racks by node id: with several brokers, a comma-separated list has one rack for each."""
    text = settings.broker_rack
    racks = [text] if text is None or brokers == 1 else [rack.strip() or None for rack in text.split(",")]
    return {settings.node_id + number: racks[number % len(racks)] for number in range(brokers)}


def _transactions_log(data: DataDirectory, settings: BrokerSettings) -> TransactionsLog:
    segment_bytes, segment_ms = settings.transaction_state_log_segment_bytes, settings.log_roll_ms
    limits = SegmentLimits(segment_bytes=segment_bytes, segment_ms=segment_ms)
    partitions = settings.transaction_state_log_num_partitions
    return TransactionsLog(data.path, partitions, limits, was_clean=data.was_clean)


_DYNAMIC = tuple(name for name in Config.names() if name in BROKER and not BROKER[name].read_only)
"""The coordinator's configs that a broker can change while it runs."""


def _in_thread(work: Callable[[], object]) -> None:
    asyncio.get_running_loop().run_in_executor(None, work)
