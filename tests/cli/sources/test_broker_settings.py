"""What is known of the brokers themselves, from any number of them."""

import pytest

from groups.model import Cluster
from groups.settings import release_of, with_settings
from tests.cli.sources.live_source import admin_only, live_source
from tests.kafka.broker import RunningBroker
from tests.kafka.jars import kafka_version

POLICY = "group.consumer.migration.policy"


def test_settings_on_which_brokers_agree() -> None:
    reported: dict[str, dict[str, str | None]] = {
        "1": {POLICY: "bidirectional", "group.max.size": "5", "group.share.max.size": "9", "group.x": None},
        "2": {POLICY: "disabled", "group.max.size": "5"},
    }
    cluster = with_settings(Cluster(id="c"), reported, {})
    assert cluster.settings == {"group.max.size": "5"}
    assert cluster.settings_differ == {POLICY: ("bidirectional", "disabled")}
    assert cluster.settings_problem is None


def test_brokers_that_do_not_tell() -> None:
    failed = {"2": "no answer", "1": "CLUSTER_AUTHORIZATION_FAILED"}
    nothing = with_settings(Cluster(), {}, failed)
    assert nothing.settings is None
    assert nothing.settings_problem == "broker 1: CLUSTER_AUTHORIZATION_FAILED; broker 2: no answer"
    some = with_settings(Cluster(), {"3": {"group.max.size": "5"}}, failed)
    assert some.settings == {"group.max.size": "5"}
    assert some.settings_problem == nothing.settings_problem
    assert with_settings(Cluster(), {}, {}) == Cluster()


@pytest.mark.parametrize(
    ("level", "release"),
    [
        (None, None),
        (7, "3.3"),
        (9, "3.5"),
        (21, "3.9"),
        (22, "4.0"),
        (25, "4.0"),
        (26, "4.1"),
        (27, "4.1"),
        (29, "4.2"),
        (30, "4.3"),
        (31, "4.4"),
        (33, "4.4"),
        (34, "4.5 or later"),
        (99, "4.5 or later"),
    ],
)
def test_a_release_by_its_metadata_version(level: int | None, release: str | None) -> None:
    assert release_of(level) == release


@pytest.mark.parametrize(("share_fetch", "release"), [(1, "4.1"), (2, "4.2"), (None, "4.2")])
def test_a_4_1_with_previews_claims_the_level_of_4_2(share_fetch: int | None, release: str) -> None:
    assert release_of(29, share_fetch) == release


def test_a_real_broker(broker: RunningBroker) -> None:
    with live_source(broker) as source, admin_only(broker) as admin:
        cluster, by_admin = source.cluster(), admin.cluster()
    assert cluster.settings == by_admin.settings
    assert (cluster.settings or {})[POLICY] == "bidirectional"
    assert (cluster.kafka, cluster.consumer_protocol) == (kafka_version().rpartition(".")[0], True)
    assert cluster.settings_problem is None
