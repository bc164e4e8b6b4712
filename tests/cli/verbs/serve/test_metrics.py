"""What `kohort serve --metrics` counts is what happened, and what a real broker counts."""

import asyncio
import socket
import subprocess
import time
import urllib.request
from collections.abc import Collection, Mapping
from pathlib import Path

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.cli.command import Kohort
from tests.cli.served_data import serving
from tests.cli.verbs.serve.test_serve import commit, heartbeat
from tests.conformance.cluster import Cluster
from tests.conformance.peer import Peer
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.ports import HOST, free_ports
from tests.kafka.programs import SILENT, program
from tests.kafka.wait import wait_until
from tests.support.long import LONG

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
QUICK_EXPIRY = {"offsets.retention.check.interval.ms": "100"}
COUNTERS = {
    "offset-commit-count": ("offset_commits", 4),
    "offset-expiration-count": ("offset_expirations", 1),
    "offset-deletion-count": ("offset_deletions", 2),
    "group-completed-rebalance-count": ("classic_group_completed_rebalances", 2),
    "consumer-group-rebalance-count": ("consumer_group_rebalances", 3),
}
"""By Kafka's name: ours, and the count after the story."""
RATES = {
    "offset-commit-rate": "offset_commit_rate",
    "offset-expiration-rate": "offset_expiration_rate",
    "offset-deletion-rate": "offset_deletion_rate",
    "group-completed-rebalance-rate": "group_completed_rebalance_rate",
    "consumer-group-rebalance-rate": "consumer_group_rebalance_rate",
}
WINDOW_S = 30  # metrics.sample.window.ms: a rate begins as if the window before had been empty
HAPPENED = {name: count for name, (_, count) in COUNTERS.items()}


async def _rebalance_classic(cluster: Cluster, member: str) -> str:
    joining = {"session_timeout": 30_000, "rebalance_timeout": 60_000, "protocol_type": "consumer"}
    protocols = [{"name": "range", "metadata": b""}]
    fields = {"group_id": "classic", "member_id": member, "protocols": protocols, **joining}
    joined = await cluster.ask("JoinGroup", 3, **fields)
    asked = {
        "group_id": "classic",
        "member_id": joined["member_id"],
        "generation_id": joined["generation_id"],
    }
    for _ in range(2):  # the second time it asks for what it has
        mine = {"member_id": joined["member_id"], "assignment": b"mine"}
        assert not (await cluster.ask("SyncGroup", 2, **asked, assignments=[mine]))["error_code"]
    return str(joined["member_id"])


async def story(cluster: Cluster) -> None:
    """What leads to `HAPPENED`, with the topic `orders`."""
    first = await heartbeat(cluster, "consumer", "first", 0)
    await heartbeat(cluster, "consumer", "second", 0)
    await heartbeat(cluster, "consumer", "second", -1)  # the epoch moves, and no broker counts that
    await heartbeat(cluster, "consumer", "first", first["member_epoch"])
    regex = {"subscribed_topic_names": [], "subscribed_topic_regex": "ord.*"}
    only = await heartbeat(cluster, "regex", "only", 0, **regex)
    while not only["assignment"]["topic_partitions"]:  # until the regex is resolved
        reported = await heartbeat(cluster, "regex", "only", only["member_epoch"])
        only = {**reported, "assignment": reported["assignment"] or only["assignment"]}
    await _rebalance_classic(cluster, await _rebalance_classic(cluster, ""))
    await commit(cluster, "simple", dict.fromkeys(range(3), 7))
    await commit(cluster, "expires", {0: 7}, version=4, retention_time=1)
    topics = [{"name": "orders", "partitions": [{"partition_index": number} for number in (0, 1, 3)]}]
    await cluster.ask("OffsetDelete", 0, group_id="simple", topics=topics)


def scraped(port: int) -> Mapping[str, Mapping[str, float]]:
    """Values by label ("" for none), by metric."""
    request = urllib.request.Request(f"http://{HOST}:{port}/metrics", headers={"Accept": OPENMETRICS})
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
        families = text_string_to_metric_families(answer.read().decode())  # type: ignore[no-untyped-call]
        return {
            family.name.removeprefix("kafka_group_coordinator_"): {
                "".join(sample.labels.values()): sample.value for sample in family.samples
            }
            for family in families
        }


def counted(figures: Mapping[str, Mapping[str, float]]) -> Mapping[str, float]:
    return {kafka: figures[name][""] for kafka, (name, _) in COUNTERS.items()}


def assert_rates(rates: Mapping[str, float], counts: Mapping[str, int], started: float) -> None:
    """All of it happened in the windows that count: since the start, and one window before it (C54)."""
    elapsed_s = time.monotonic() - started
    for name, rate in rates.items():
        count = counts[name.replace("-rate", "-count")]
        # A broker counts the expired offsets of a group again and again, also between two readings.
        most = count + 1 if "expiration" in name else count
        assert count / (WINDOW_S + elapsed_s) <= rate <= most / WINDOW_S, name


def test_what_happened_is_counted_and_a_restart_counts_nothing(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    expiry = [word for name, value in QUICK_EXPIRY.items() for word in ("--config", f"{name}={value}")]
    words = ("--topic", "orders:4", "--metrics", f"{HOST}:{port}", *expiry)
    started = time.monotonic()
    with serving(tmp_path, *words) as served:
        assert set(counted(scraped(port)).values()) == {0}
        served.ask(story)
        before: Mapping[str, Mapping[str, float]] = {}

        def settled() -> bool:
            nonlocal before
            before = scraped(port)
            return counted(before) == HAPPENED and before["event_queue_size"] == {"": 0}

        wait_until(settled, lambda: f"the offset has expired, and that is on the disk: {before}")
        assert served.stop() == 0
    assert before["groups"] == {"classic": 2, "consumer": 2}  # the simple group has an offset left
    states = {"PreparingRebalance": 0, "CompletingRebalance": 0, "Stable": 1, "Dead": 0, "Empty": 1}
    assert before["classic_groups"] == states
    assert before["consumer_groups"]["Stable"] == 2
    assert before["offsets"] == {"": 1}
    assert_rates({kafka: before[name][""] for kafka, name in RATES.items()}, HAPPENED, started)
    assert before["partitions"] == {"loading": 0, "active": 5, "failed": 0}
    assert 0 <= before["thread_idle_ratio_min"][""] <= before["thread_idle_ratio_avg"][""] <= 1
    with serving(tmp_path, *words) as served:
        after = scraped(port)
        assert set(counted(after).values()) == {0}
        assert served.stop() == 0
    assert after["groups"] == before["groups"]
    assert after["offsets"] == before["offsets"]
    assert 0 < after["partition_load_time_avg_seconds"][""] <= after["partition_load_time_max_seconds"][""]


def test_a_port_that_is_taken_is_named(kohort: Kohort) -> None:
    with socket.create_server((HOST, 0)) as taken:
        address = f"{HOST}:{taken.getsockname()[1]}"
        run = kohort(f"serve --listen {HOST}:0 --metrics {address}")
        run.assert_refused(f"{address} cannot be used: Address already in use", status=3)


@LONG
def test_a_real_broker_counts_the_same(kafka_jars: Path, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    jmx = {"port": port, "rmi.port": port, "authenticate": "false", "ssl": "false", "host": HOST}
    options = [f"-Dcom.sun.management.jmxremote.{name}={value}" for name, value in jmx.items()]
    options.append(f"-Djava.rmi.server.hostname={HOST}")
    broker = Broker(kafka_jars, tmp_path, QUICK_EXPIRY, options=options)

    def values(names: Collection[str]) -> dict[str, float]:
        command = program(kafka_jars, "CoordinatorMetrics", str(port), options=(SILENT,))
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        pairs = [line.split("\t")[1:] for line in lines]
        return {name: float(value) for name, value in pairs if name in names}

    async def play() -> dict[str, float]:
        cluster = Cluster(await Peer.connect(HOST, broker.port))
        try:
            await cluster.create({"orders": 4})
            await cluster.wait_for_coordinator({"orders": 4})
            before = values(HAPPENED)
            await story(cluster)
        finally:
            await cluster.close()
        return before

    started = time.monotonic()
    try:
        broker.start()
        wait_for_coordinator(broker)
        before = asyncio.run(play())

        def happened() -> dict[str, float]:
            return {name: value - before[name] for name, value in values(HAPPENED).items()}

        # A broker counts the expired offsets of a group again for every group that it looks at next.
        wait_until(lambda: happened()["offset-expiration-count"] >= 1, "the offset has expired")
        assert {**happened(), "offset-expiration-count": 1} == HAPPENED
        assert_rates(values(RATES), {name: int(value) for name, value in values(COUNTERS).items()}, started)
    finally:
        broker.stop()
