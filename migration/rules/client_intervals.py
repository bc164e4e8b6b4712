"""Rules about intervals in the members' files: their effects on rebalances and on new partitions."""

from collections.abc import Iterator

from groups.findings import Finding, Level
from groups.times import read_java_duration_ns
from migration.client_config import (
    HEARTBEAT_INTERVAL,
    MAX_IDLE,
    MAX_POLL_INTERVAL,
    METADATA_MAX_AGE,
    OFFSET_RESET,
    ClientConfig,
    Setting,
)
from migration.model import Destination
from migration.rules.case import Case
from migration.rules.client_configs import owners_of, timeout_now

_DEFAULTS_MS = {MAX_IDLE: 540_000, MAX_POLL_INTERVAL: 300_000, METADATA_MAX_AGE: 300_000}
"""Defaults of Java's consumer (ConsumerConfig of kafka-clients 4.4.0)."""
_REBALANCE_MS = 60_000
"""The time for a rebalance in Kafka's documentation: PT6M with a metadata.max.age.ms of five minutes."""
_DURATION = "by_duration:"
_LATEST = ("latest", "largest", "end")
_RESET_DOCS = "ConsumerConfig of kafka-clients 4.4.0, auto.offset.reset; apache/kafka pull 22784"


def connections_outlast_rebalances(case: Case) -> Iterator[Finding]:
    if case.destination is Destination.CONSUMER:
        return
    for config in case.request.configs:
        if config.library == "librdkafka":  # does not close idle connections by default
            continue
        idle, poll = _milliseconds(config, MAX_IDLE), _milliseconds(config, MAX_POLL_INTERVAL)
        if idle is not None and poll is not None and 0 <= idle < poll:
            yield case.warning(
                "client-config-idle",
                members=owners_of(case, config),
                message=f"{config.name}: {_shown_setting(config, MAX_IDLE)} is less than "
                f"{_shown_setting(config, MAX_POLL_INTERVAL)}. In a long classic rebalance the client may close its "
                "connection to the coordinator while it waits for the other members.",
                remedy=f"Set {MAX_IDLE} to at least {poll}.",
                source="ConsumerConfig of kafka-clients 4.4.0, max.poll.interval.ms",
            )


def new_partitions_are_read(case: Case) -> Iterator[Finding]:
    """Records of a new partition before its discovery are only read if the offset reset reaches back that far."""
    for config in case.request.configs:
        entry = config.setting(OFFSET_RESET)
        finding = None
        # Connect's workers set earliest.
        if entry is None and (config.library == "connect" or not config.is_recognized):
            continue
        if entry is None or entry.value.lower() in _LATEST:
            finding = _latest(case, config, entry)
        elif entry.value.lower().startswith(_DURATION):
            finding = _duration(case, config, entry)
        if finding is not None:
            yield finding


def _latest(case: Case, config: ClientConfig, entry: Setting | None) -> Finding:
    what = f"{OFFSET_RESET} is latest (the default)" if entry is None else f"{entry.place} is {entry.value}"
    has_durations = config.library in ("java", "connect")
    by_duration = f", or {_DURATION}{_shortest(case, config)}" if has_durations else ""
    return case.finding(
        Level.INFO if entry is None else Level.WARNING,
        "client-config-new-partitions",
        members=owners_of(case, config),
        message=f"{config.name}: {what}. When a topic gets more partitions, records that are written to them before "
        f"the members discover them are skipped. That takes {_discovery(case, config)}.",
        remedy=f"If topics get more partitions, use earliest{by_duration}; the group's committed offsets are not "
        "affected.",
        source=_RESET_DOCS,
    )


def _duration(case: Case, config: ClientConfig, entry: Setting) -> Finding | None:
    try:
        reaches_ms = read_java_duration_ns(entry.value[len(_DURATION) :]) // 1_000_000
    except ValueError:
        return None
    here, back = _needed_ms(case, config), _classic_ms(config)
    if here is not None and reaches_ms < here:
        return case.warning(
            "client-config-new-partitions",
            members=owners_of(case, config),
            message=f"{config.name}: {entry.place} is {entry.value}, less than it may take to discover a new "
            f"partition: {_discovery(case, config)}. Older records in it are skipped.",
            remedy=f"Use {_DURATION}{_shortest(case, config)} or longer, or earliest.",
            source=_RESET_DOCS,
        )
    if case.destination is Destination.CONSUMER and back is not None and reaches_ms < back:
        return case.info(
            "client-config-new-partitions",
            members=owners_of(case, config),
            message=f"{config.name}: {entry.place} is {entry.value}. It is long enough under the consumer protocol, "
            "and too short after a rollback to the classic one: members discover new partitions later there.",
            remedy=f"Use {_DURATION}{_iso(back)} or longer until a rollback is no longer planned.",
            source=_RESET_DOCS,
        )
    return None


def _needed_ms(case: Case, config: ClientConfig) -> int | None:
    if case.destination is Destination.CONSUMER:
        interval = timeout_now(case, HEARTBEAT_INTERVAL)
        return int(interval) if interval.isdigit() else None
    return _classic_ms(config)


def _classic_ms(config: ClientConfig) -> int | None:
    age = _milliseconds(config, METADATA_MAX_AGE)
    return None if age is None else age + _REBALANCE_MS


def _shortest(case: Case, config: ClientConfig) -> str:
    return _iso(_needed_ms(case, config) or _DEFAULTS_MS[METADATA_MAX_AGE] + _REBALANCE_MS)


def _discovery(case: Case, config: ClientConfig) -> str:
    if case.destination is Destination.CONSUMER:
        return f"up to a heartbeat interval ({timeout_now(case, HEARTBEAT_INTERVAL)} ms)"
    return f"up to {_shown_setting(config, METADATA_MAX_AGE)} ms, and a rebalance"


def _milliseconds(config: ClientConfig, key: str) -> int | None:
    """A setting of the file, or its default; None if it is not a number."""
    entry = config.setting(key)
    if entry is None:
        return _DEFAULTS_MS[key]
    text = entry.value.removeprefix("-")
    return int(entry.value) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _shown_setting(config: ClientConfig, key: str) -> str:
    entry = config.setting(key)
    return f"{key} {_DEFAULTS_MS[key]} (the default)" if entry is None else f"{entry.place} {entry.value}"


def _iso(milliseconds: int) -> str:
    """A duration in ISO 8601, rounded up to a whole second: PT5S, PT6M."""
    seconds = -(-milliseconds // 1000)
    return f"PT{seconds // 60}M" if seconds >= 60 and seconds % 60 == 0 else f"PT{seconds}S"
