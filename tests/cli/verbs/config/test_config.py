"""`kohort config get|set|unset` on a real broker."""

from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from confluent_kafka.admin._resource import ResourceType

from cli.errors import CommandError
from cli.sources.group_settings import GroupSettings
from cli.sources.source import Notices
from coordinator.store.data_directory import DataDirectory
from coordinator.store.directory_files import ConfigKind
from groups.settings import ConfigOrigin, GroupConfig, bounds, faults
from tests.cli.command import Kohort
from tests.cli.offset_rig import OffsetRig
from tests.kafka.members import Members, fresh_name
from tests.kafka.plugin import StartBroker
from tests.kafka.tool_host import ToolHost
from tests.kafka.topics import set_config
from tests.kafka.wait import wait_until

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"


def reported(admin: AdminClient, group: str) -> Mapping[str, Any]:
    resource = ConfigResource(ResourceType.GROUP, group)
    entries: Mapping[str, Any] = admin.describe_configs([resource])[resource].result()
    return {name: entry.value for name, entry in entries.items()}


def wait_until_set(admin: AdminClient, group: str, value: str) -> None:
    """Wait until the broker says so: it answers for the controller, and applies the change a little later itself."""
    wait_until(lambda: reported(admin, group)[SESSION] == value, f"{SESSION} of {group} is {value}")


def test_everything_that_the_broker_offers_is_shown(rig: OffsetRig) -> None:
    group = fresh_name("group")
    answer = rig.ours("config get", group)
    answer.assert_said(3, f"{group}: no such group")
    assert {row["name"]: row["value"] for row in answer.document["settings"]} == reported(rig.admin, group)
    session = next(row for row in answer.document["settings"] if row["name"] == SESSION)
    assert session == {
        "name": SESSION, "value": "6000", "source": "broker", "default": "6000", "minimum": 6000, "maximum": 60000,
    }  # fmt: skip
    two = rig.ours("config get", group, HEARTBEAT, SESSION, output="csv")
    assert [row["NAME"] for row in two.rows] == [HEARTBEAT, SESSION]
    for line in ("set g consumer.session.timeout=9000", "unset g consumer.session.timeout"):
        rig.ours(f"config {line}").assert_refused(f"did you mean {SESSION}?")


def test_a_setting_is_shown_made_and_taken_away(rig: OffsetRig) -> None:
    group = fresh_name("group")
    words = ["config", "set", group, f"{SESSION}=9000", "share.isolation.level=read_committed"]
    shown = rig.ours(*words).succeeded()
    rows = [(row["before"], row["after"], row["applied"]) for row in shown.document["settings"]]
    assert rows == [("6000", "9000", None), ("read_uncommitted", "read_committed", None)]
    assert reported(rig.admin, group)[SESSION] == "6000"
    done = rig.ours(*words, "--execute", "--yes").succeeded()
    assert [row["applied"] for row in done.document["settings"]] == [True, True]
    wait_until_set(rig.admin, group, "9000")
    (now,) = rig.ours("config get", group, SESSION).document["settings"]
    assert (now["value"], now["source"], now["default"]) == ("9000", "group", "6000")

    again = rig.ours(*words, "--execute", "--yes")
    assert (again.status, again.document["executed"]) == (0, False)
    assert f"{group}: {SESSION} already has this value" in again.stderr

    gone = rig.ours("config unset", group, SESSION, "share.isolation.level", "--execute", "--yes").succeeded()
    assert [row["after"] for row in gone.document["settings"]] == ["6000", "read_uncommitted"]
    wait_until_set(rig.admin, group, "6000")


@pytest.mark.kafka
@pytest.mark.parametrize(
    ("values", "said"),
    [
        (f"{SESSION}=5999", f"{SESSION}: 5999 is less than 6000, the brokers' minimum"),
        (f"{SESSION}=60001", f"{SESSION}: 60001 is more than 60000, the brokers' maximum"),
        (f"{SESSION}=x", f"{SESSION}: 'x' is not a whole number"),
        (f"{HEARTBEAT}=6000", f"{HEARTBEAT}: {SESSION} (6000) must be greater than {HEARTBEAT} (6000)"),
        (f"{SESSION}=7000 {HEARTBEAT}=8000", f"{SESSION} (7000) must be greater than {HEARTBEAT} (8000)"),
        ("share.delivery.count.limit=11", "11 is more than 10, the brokers' maximum"),
        ("streams.num.standby.replicas=3", "3 is more than 2, the brokers' maximum"),
        # What we have no rule for the cluster refuses when it is tried out.
        ("share.isolation.level=serializable", "must be one of: read_committed, read_uncommitted"),
        ("share.auto.offset.reset=by_duration:x", "share.auto.offset.reset"),
        ("share.renew.acknowledge.enable=perhaps", "share.renew.acknowledge.enable"),
    ],
)
def test_what_is_out_of_bounds_is_refused_before_it_is_sent(rig: OffsetRig, values: str, said: str) -> None:
    group = fresh_name("group")
    answer = rig.ours(f"config set {group} {values} --execute --yes")
    answer.assert_said(4, said)
    assert not answer.document["executed"]
    assert reported(rig.admin, group) == reported(rig.admin, "another")


@pytest.mark.kafka
def test_our_bounds_are_the_brokers(rig: OffsetRig) -> None:
    settings = GroupSettings(rig.admin, 10, Notices())
    configs = settings.read(["bounds"])["bounds"]
    bounded = {name: config for name, config in configs.items() if config.minimum is not None}
    assert len(bounded) == 14
    for name, config in bounded.items():
        least, most = config.minimum, config.maximum
        assert least is not None
        for number in (least, least - 1, *(() if most is None else (most, most + 1))):
            change: dict[str, str | None] = {name: str(number)}
            (refused,) = next(settings.alter({"bounds": change}, validate_only=True)).values()
            assert (refused is not None) == bool(list(faults(change, configs))), (change, refused)


def test_a_setting_applies_to_its_type_of_group(rig: OffsetRig, members: Members) -> None:
    topic = rig.topic([1])
    classic = rig.group({(topic, 0): 0})
    answer = rig.ours("config set", classic, f"{SESSION}=9000")
    assert f"{classic}: settings of consumer groups have no effect on a classic group" in answer.stderr
    group = fresh_name("consumer")
    member = members.confluent(rig.broker, group, [topic], group_protocol="consumer")
    member.wait_assignment({topic: [0]})
    done = rig.ours("config set", group, f"{SESSION}=9000", "--execute", "--yes")
    assert (done.status, done.stderr.splitlines()[0]) == (0, f"kohort: changed 1 setting of {group}")
    rig.ours("config unset", group, SESSION, "--execute", "--yes")


def test_settings_of_all_groups_in_one_table(rig: OffsetRig) -> None:
    group, absent, plain = rig.group({(rig.topic([1]), 0): 0}), fresh_name("absent"), fresh_name("plain")
    for name, values in ((group, f"{SESSION}=9000"), (absent, f"{SESSION}=8000 {HEARTBEAT}=700")):
        rig.ours(f"config set {name} {values} --execute --yes").succeeded()
        wait_until(partial(is_applied, rig.admin, name, "6000"), "what was set is applied")
    rig.group({(rig.topic([1]), 0): 0}, plain)
    listed = ("config list --match", f"^({group}|{absent}|{plain})$")
    answer = rig.ours(*listed, output="csv").succeeded()
    assert [tuple(row.values()) for row in answer.rows] == [
        (group, SESSION, "9000", "6000"), (absent, HEARTBEAT, "700", "500"), (absent, SESSION, "8000", "6000"),
    ]  # fmt: skip
    assert f"{absent}: no such group; the settings apply once it exists" in answer.stderr
    assert f"{group}: settings of consumer groups have no effect on a classic group" in answer.stderr
    every = {one["group"]: one for one in rig.ours(*listed, "--all").succeeded().document["groups"]}
    assert {name: every[name]["type"] for name in every} == {plain: "classic", group: "classic", absent: None}
    for name in (group, absent):
        got = rig.ours("config get", name).succeeded().document["settings"]
        assert every[name]["settings"] == got
    none = rig.ours("config list --type share,streams", output="table").succeeded()
    assert "no setting of a group differs from the default" in none.stderr
    for name in (group, absent):
        rig.ours(f"config unset {name} {SESSION} --execute --yes").succeeded()


def is_applied(admin: AdminClient, group: str, *before: str) -> bool:
    return reported(admin, group)[SESSION] not in (before or ("7000", "9000"))


SAVED = """
kohort: 1
topics: {t: {partitions: 1}}
groups: {g: {type: classic, state: Stable, protocol_type: consumer, protocol: range, members: [
  {id: m, client: {library: java, version: 4.3.1}, protocols: [range], subscription: {topics: [t]}, owned: {t: [0]}}
]SETTINGS}}
"""


@pytest.mark.parametrize(("saved", "expected"), [("50000", 0), ("48000", 1), (None, 1)])
def test_saved_settings(kohort: Kohort, tmp_path: Path, saved: str | None, expected: int) -> None:
    file, config = tmp_path / "saved.yaml", tmp_path / "client.properties"
    settings = "" if saved is None else f", settings: {{{SESSION}: '{saved}'}}"
    file.write_text(SAVED.replace("SETTINGS", settings))
    config.write_text("session.timeout.ms=50000\n")
    kohort.quick("config get other --snapshot", file).assert_refused("other: no such group", status=3)
    listed = kohort.quick("config list --output json --snapshot", file)
    if saved is None:
        listed.assert_refused(f"settings are not known from {file}", status=3)
    else:
        (own,) = listed.succeeded().document["groups"]
        assert [(one["name"], one["value"]) for one in own["settings"]] == [(SESSION, saved)]
    answer = kohort.quick("plan g --to consumer --output json --snapshot", file, "--client-config", config)
    findings = [finding for finding in answer.document["findings"] if finding["rule"] == "group-timeouts"]
    assert len(findings) == expected, findings


def test_brokers_without_settings_of_groups() -> None:

    refused: Future[Any] = Future()
    refused.set_exception(KafkaException(KafkaError(KafkaError.INVALID_REQUEST)))
    old = SimpleNamespace(
        list_topics=lambda **_: SimpleNamespace(brokers={}),
        describe_configs=lambda resources, **_: dict.fromkeys(resources, refused),
    )
    settings = GroupSettings(cast("AdminClient", old), 10, Notices())
    with pytest.raises(
        CommandError, match=r"^billing: these brokers have no settings of groups, .* Kafka 4\.0"
    ):
        settings.read(["billing"])


def test_settings_of_groups_that_kohort_serve_keeps(kohort: Kohort, tmp_path: Path) -> None:
    data = DataDirectory.open(tmp_path / "data")
    data.set_config(ConfigKind.GROUP, "payments", {SESSION: "50000", HEARTBEAT: "6000"})
    data.close()
    answer = kohort.quick("config get payments --embedded", data.path, "--output", "json").succeeded()
    assert answer.document["settings"] == [
        {"name": name, "value": value, "source": "group", "default": None, "minimum": None, "maximum": None}
        for name, value in ((HEARTBEAT, "6000"), (SESSION, "50000"))
    ]
    said = "only settings of this group are shown; the brokers' settings are not known offline"
    absent = "no such group; the settings apply once it exists"
    assert answer.stderr == f"kohort: payments: {said}\nkohort: payments: {absent}\n"
    other = kohort.quick("config get other", SESSION, "--embedded", data.path, "--output", "json")
    other.assert_said(3, f"other: {SESSION} is not set for this group", "other: no such group")
    assert other.document["settings"] == []


def test_settings_of_groups_in_a_brokers_own_log(
    kohort: Kohort, start_broker: StartBroker, tools: ToolHost, tmp_path: Path
) -> None:
    broker = start_broker({"metadata.log.max.record.bytes.between.snapshots": "2000"})
    live = OffsetRig(broker=broker, kohort=kohort, tools=tools)
    topic = live.topic([1])
    group, gone = fresh_name("group"), fresh_name("gone")
    settings = {SESSION: "9000", "share.isolation.level": "read_committed"}
    set_config(broker, ResourceType.GROUP, group, settings)
    set_config(broker, ResourceType.GROUP, gone, {SESSION: "7000"})
    for number in range(20):
        set_config(broker, ResourceType.GROUP, f"{group}-{number}", {SESSION: str(8000 + number)})
    wait_until(lambda: list(broker.data.glob("__cluster_metadata-0/*.checkpoint")), "a snapshot is written")
    live.group({(topic, 0): 0}, group)
    set_config(broker, ResourceType.GROUP, group, {HEARTBEAT: "700", SESSION: "9500"})
    live.ours("config unset", gone, SESSION, "--execute", "--yes").succeeded()

    def own(name: str, *source: str | Path) -> dict[str, str]:
        answer = kohort.quick("config get --output json", name, *source)
        assert answer.status == (3 if name == gone else 0), answer
        rows = answer.document["settings"]
        return {row["name"]: row["value"] for row in rows if row["source"] == "group"}

    shown: dict[str, dict[str, str]] = {}
    for name in (group, gone, f"{group}-7"):
        wait_until(partial(is_applied, live.admin, name), "what was set is applied")
        shown[name] = own(name, "-b", broker.bootstrap)
    assert shown[group] == {HEARTBEAT: "700", SESSION: "9500", "share.isolation.level": "read_committed"}
    saved = tmp_path / "live.yaml"
    kohort.quick("snapshot", group, "-b", broker.bootstrap, "--file", saved).succeeded()
    broker.stop()
    assert {name: own(name, "--log-dir", broker.data) for name in shown} == shown
    offline = tmp_path / "offline.yaml"
    kohort.quick("snapshot", group, "--log-dir", broker.data, "--file", offline).succeeded()
    assert own(group, "--snapshot", saved) == own(group, "--snapshot", offline) == shown[group]


def test_bounds_that_brokers_do_not_share() -> None:
    brokers: list[dict[str, str | None]] = [
        {"group.consumer.min.session.timeout.ms": "6000", "group.consumer.max.session.timeout.ms": "60000"},
        {"group.consumer.min.session.timeout.ms": "9000", "group.consumer.max.session.timeout.ms": None},
    ]
    assert bounds(SESSION, brokers) == (9000, 60000)
    assert bounds("streams.num.standby.replicas", [{"group.streams.max.standby.replicas": "2"}]) == (0, 2)
    assert bounds("streams.num.warmup.replicas", [{"group.streams.max.warmup.replicas": "20"}]) == (0, 20)
    least: dict[str, str | None] = {"group.streams.min.task.offset.interval.ms": "9"}
    assert bounds("streams.task.offset.interval.ms", [least]) == (9, None)
    assert bounds("streams.acceptable.recovery.lag", []) == (0, None)
    assert bounds("errors.deadletterqueue.topic.name", brokers) == (None, None)
    assert bounds(SESSION, []) == (None, None)


def test_a_change_is_judged_by_what_comes_into_force() -> None:
    configs = {
        SESSION: GroupConfig(name=SESSION, value="50000", origin=ConfigOrigin.GROUP, default="45000"),
        HEARTBEAT: GroupConfig(name=HEARTBEAT, value="45000", origin=ConfigOrigin.GROUP, default="5000"),
    }
    assert [name for name, _ in faults({SESSION: None}, configs)] == [SESSION]
    assert not list(faults({SESSION: None, HEARTBEAT: None}, configs))
    lag = "streams.acceptable.recovery.lag"
    configs = {lag: GroupConfig(name=lag, value="10000", origin=ConfigOrigin.DEFAULT, minimum=0)}
    assert not list(faults({lag: "100000000000"}, configs))
    assert [said for _, said in faults({lag: "-1"}, configs)] == ["-1 is less than 0, the brokers' minimum"]
