"""`kohort config get|set|unset` on a real broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from confluent_kafka.admin._resource import ResourceType

from groups.group_configs import ConfigOrigin, GroupConfig, bounds, faults
from tests.cli.command import Kohort
from tests.cli.offset_rig import OffsetRig
from tests.kafka.members import Members, fresh_name
from tests.kafka.wait import wait_until

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"


def told(admin: AdminClient, group: str) -> Mapping[str, Any]:
    """What the broker itself says is in force."""
    resource = ConfigResource(ResourceType.GROUP, group)
    entries: Mapping[str, Any] = admin.describe_configs([resource])[resource].result()
    return {name: entry.value for name, entry in entries.items()}


def wait_told(admin: AdminClient, group: str, value: str) -> None:
    """Wait until the broker says so: it answers for the controller, and applies the change a little later itself."""
    wait_until(lambda: told(admin, group)[SESSION] == value, f"{SESSION} of {group} is {value}")


@pytest.mark.kafka
def test_everything_that_the_broker_offers_is_shown(rig: OffsetRig) -> None:
    group = fresh_name("group")
    answer = rig.ours("config get", group).succeeded()
    assert {row["name"]: row["value"] for row in answer.document["settings"]} == told(rig.admin, group)
    session = next(row for row in answer.document["settings"] if row["name"] == SESSION)
    assert session == {
        "name": SESSION, "value": "6000", "source": "broker", "default": "6000", "minimum": 6000, "maximum": 60000,
    }  # fmt: skip
    two = rig.ours("config get", group, HEARTBEAT, SESSION, output="csv")
    assert [row["NAME"] for row in two.rows] == [HEARTBEAT, SESSION]


@pytest.mark.kafka
def test_a_setting_is_shown_made_and_taken_away(rig: OffsetRig) -> None:
    group = fresh_name("group")
    words = ["config", "set", group, f"{SESSION}=9000", "share.isolation.level=read_committed"]
    shown = rig.ours(*words).succeeded()
    assert [(row["before"], row["after"], row["applied"]) for row in shown.document["settings"]] == [
        ("6000", "9000", None),
        ("read_uncommitted", "read_committed", None),
    ]
    assert told(rig.admin, group)[SESSION] == "6000"
    done = rig.ours(*words, "--execute", "--yes").succeeded()
    assert [row["applied"] for row in done.document["settings"]] == [True, True]
    wait_told(rig.admin, group, "9000")
    (now,) = rig.ours("config get", group, SESSION).document["settings"]
    assert (now["value"], now["source"], now["default"]) == ("9000", "group", "6000")

    again = rig.ours(*words, "--execute", "--yes")
    assert (again.status, again.document["executed"]) == (0, False)
    assert f"{group}: {SESSION} is already" in again.stderr

    gone = rig.ours("config unset", group, SESSION, "share.isolation.level", "--execute", "--yes").succeeded()
    assert [row["after"] for row in gone.document["settings"]] == ["6000", "read_uncommitted"]
    wait_told(rig.admin, group, "6000")


@pytest.mark.kafka
@pytest.mark.parametrize(
    ("values", "said"),
    [
        (f"{SESSION}=5999", f"{SESSION}: 5999 is less than the 6000 that the brokers allow at least"),
        (f"{SESSION}=60001", f"{SESSION}: 60001 is more than the 60000 that the brokers allow at most"),
        (f"{SESSION}=x", f"{SESSION}: 'x' is no whole number"),
        (f"{HEARTBEAT}=6000", f"{HEARTBEAT}: {SESSION} (6000) must be greater than {HEARTBEAT} (6000)"),
        (f"{SESSION}=7000 {HEARTBEAT}=8000", f"{SESSION} (7000) must be greater than {HEARTBEAT} (8000)"),
        ("share.delivery.count.limit=11", "11 is more than the 10 that the brokers allow at most"),
        ("streams.num.standby.replicas=3", "3 is more than the 2 that the brokers allow at most"),
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
    assert told(rig.admin, group) == told(rig.admin, "another")


@pytest.mark.kafka
def test_our_bounds_are_the_brokers(rig: OffsetRig) -> None:
    """At each bound the broker takes a value, beyond it none, which it is asked without being changed."""
    from cli.sources.group_settings import GroupSettings
    from cli.sources.source import Notices

    settings = GroupSettings(rig.admin, 10, Notices())
    configs = settings.read("bounds")
    bounded = {name: config for name, config in configs.items() if config.minimum is not None}
    assert len(bounded) == 14
    for name, config in bounded.items():
        least, most = config.minimum, config.maximum
        assert least is not None
        for number in (least, least - 1, *(() if most is None else (most, most + 1))):
            change: dict[str, str | None] = {name: str(number)}
            refused = settings.alter("bounds", change, validate_only=True)
            assert (refused is not None) == bool(list(faults(change, configs))), (change, refused)


@pytest.mark.kafka
def test_unknown_names_are_a_fault_of_the_command_line(rig: OffsetRig) -> None:
    for words in (
        ["set", "g", "consumer.session.timeout=9000"],
        ["unset", "g", "consumer.session.timeout"],
        ["get", "g", "consumer.session.timeout"],
    ):
        rig.ours("config", *words).assert_refused(f"did you mean {SESSION}?")


@pytest.mark.kafka
def test_whom_a_setting_concerns(rig: OffsetRig, members: Members) -> None:
    topic = rig.topic([1])
    classic = rig.group({(topic, 0): 0})
    answer = rig.ours("config set", classic, f"{SESSION}=9000")
    assert f"{classic} is a classic group: settings of consumer groups have no effect on it" in answer.stderr
    group = fresh_name("consumer")
    member = members.confluent(rig.broker, group, [topic], group_protocol="consumer")
    member.wait_assignment({topic: [0]})
    done = rig.ours("config set", group, f"{SESSION}=9000", "--execute", "--yes")
    assert (done.status, done.stderr) == (0, f"kohort: changed 1 setting of {group}\n")
    rig.ours("config unset", group, SESSION, "--execute", "--yes")


def test_only_a_live_cluster_has_settings(kohort: Kohort, sample: Any) -> None:
    for words in (["get", "billing"], ["set", "billing", f"{SESSION}=9000"]):
        answer = kohort.quick("config", *words, "--embedded", sample)
        answer.assert_refused("brokers keep them; name a live cluster")


def test_bounds_that_brokers_do_not_share() -> None:
    brokers: list[dict[str, str | None]] = [
        {"group.consumer.min.session.timeout.ms": "6000", "group.consumer.max.session.timeout.ms": "60000"},
        {"group.consumer.min.session.timeout.ms": "9000", "group.consumer.max.session.timeout.ms": None},
    ]
    assert bounds(SESSION, brokers) == (9000, 60000)
    assert bounds("streams.num.standby.replicas", [{"group.streams.max.standby.replicas": "2"}]) == (0, 2)
    assert bounds(SESSION, []) == (None, None)


def test_unsetting_is_judged_by_what_comes_into_force() -> None:
    configs = {
        SESSION: GroupConfig(name=SESSION, value="50000", origin=ConfigOrigin.GROUP, default="45000"),
        HEARTBEAT: GroupConfig(name=HEARTBEAT, value="45000", origin=ConfigOrigin.GROUP, default="5000"),
    }
    assert [name for name, _ in faults({SESSION: None}, configs)] == [SESSION]
    assert not list(faults({SESSION: None, HEARTBEAT: None}, configs))
