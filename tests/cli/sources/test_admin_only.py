"""A cluster that only the AdminClient can log in to: what it knows is shown, the rest is `-`, and why is said."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.kafka.broker import Broker
from tests.kafka.coordinator import running_broker
from tests.kafka.groups import wait_group
from tests.kafka.members import Members, fresh_name
from tests.kafka.ports import HOST, free_ports
from tests.kafka.topics import fresh_topic

pytestmark = pytest.mark.kafka

LOGIN = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"


@pytest.fixture(scope="module")
def oauth_port() -> int:
    return free_ports(1)[0]


@pytest.fixture(scope="module")
def oauth_broker(
    kafka_jars: Path, oauth_port: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    """A broker whose second listener takes unsecured OAUTHBEARER tokens."""
    plain, controller = free_ports(2)
    listeners = f"PLAINTEXT://{HOST}:{plain},SASL_PLAINTEXT://{HOST}:{oauth_port}"
    settings = {
        "listeners": f"{listeners},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": listeners,
        "controller.quorum.voters": f"1@{HOST}:{controller}",
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config": (
            f'{LOGIN} required unsecuredLoginStringClaim_sub="broker";'
        ),
    }
    with running_broker(kafka_jars, tmp_path_factory.mktemp("oauth-broker"), settings, port=plain) as broker:
        yield broker


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "client.properties"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\n"
        "sasl.mechanism=OAUTHBEARER\n"
        "enable.sasl.oauthbearer.unsecure.jwt=true\n"
        "sasl.oauthbearer.config=principal=alice\n"
    )
    return file


def test_groups_are_shown_as_far_as_the_admin_client_goes(
    oauth_broker: Broker, oauth_port: int, config: Path, members: Members, kohort: Kohort
) -> None:
    topic, group = fresh_topic(oauth_broker, 2), fresh_name("payments")
    member = members.confluent(oauth_broker, group, [topic], group_protocol="consumer")
    member.wait_assignment({topic: [0, 1]})
    wait_group(oauth_broker, group, members=1, state="Stable")
    live: list[str | Path] = ["--bootstrap-server", f"{HOST}:{oauth_port}", "--command-config", config]

    listed = kohort.quick("list", *live, "--output", "csv")
    assert listed.status == 0, listed
    assert [(row["GROUP"], row["TYPE"]) for row in listed.rows] == [(group, "Consumer")]
    assert listed.stderr.count("\n") == 1
    assert "OAUTHBEARER" in listed.stderr
    assert "share, streams and connect groups are not shown" in listed.stderr

    described = kohort.quick("describe", group, "--members", "--verbose", *live, "--output", "csv")
    (row,) = described.rows
    assert (row["CONSUMER-ID"], row["CURRENT-ASSIGNMENT"]) == (member.member_id(), f"{topic}:0,1")
    assert (row["CURRENT-EPOCH"], row["TARGET-EPOCH"], row["SUBSCRIPTION"]) == ("", "", "")
    assert kohort.quick("describe", group, *live).status == 0
    assert kohort.quick("describe", "missing", *live).status == 3
