"""Real applications on `kohort serve` and on a real broker: `make applications` runs all of them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.coordinator.applications.checks import CHECKS
from tests.coordinator.applications.clients import CLIENTS
from tests.coordinator.applications.page import BEGIN, END, PAGE, cases
from tests.coordinator.applications.servers import REAL, served
from tests.coordinator.applications.stage import staged
from tests.kafka.broker import Broker
from tests.kafka.java_host import JavaHost
from tests.kafka.members import OTHERS, Members, fresh_name
from tests.kafka.topics import fresh_topic
from tests.support.long import LONG

pytestmark = pytest.mark.kafka

Serve = Callable[[str], Broker]

QUICK = {
    ("serve", "confluent-kafka consumer", "consumes once"),
    ("serve", "aiokafka", "consumes once"),
    ("serve", "kafka-python", "compression"),
    ("serve", "Java eager", "describe"),
    (REAL, "aiokafka", "consumes once"),
    (REAL, "Java eager", "describe"),
}
"""What `make test` runs."""
REFUSED = "UnsupportedVersionException: The cluster does not support the share group protocol"


@pytest.fixture(scope="module")
def serve(
    kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Serve]:
    """Give a function that gives a server by its name, started with the first that asks for it."""
    with ExitStack() as stack:
        running: dict[str, Broker] = {}

        def start(server: str) -> Broker:
            if server == REAL:
                broker: Broker = request.getfixturevalue("session_broker")
                return broker
            if server not in running:
                directory = tmp_path_factory.mktemp("serve")
                running[server] = stack.enter_context(served(server, directory))
            return running[server]

        yield start


@pytest.mark.parametrize(
    ("server", "client", "check"),
    [pytest.param(*case, id="-".join(case), marks=() if case in QUICK else LONG) for case in cases()],
)
def test_applications(
    server: str,
    client: str,
    check: str,
    serve: Serve,
    program: Callable[[str], None],
    java_host: JavaHost,
    kafka_jars: Path,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("case", (server, client, check))
    library = CLIENTS[client].library
    if library in OTHERS:
        program(library)
    with staged(serve(server), CLIENTS[client], java_host, kafka_jars, tmp_path) as stage:
        CHECKS[check][0](stage)


def test_share_consumer_is_refused_by_serve(serve: Serve, members: Members) -> None:
    assert REFUSED in refusal(serve("serve"), members)


@LONG
def test_share_consumer_is_refused_by_a_broker_without_share_groups(
    kafka_jars: Path, members: Members, tmp_path: Path
) -> None:
    broker = Broker(kafka_jars, tmp_path, features={"share.version": 0})
    try:
        broker.start()
        assert REFUSED in refusal(broker, members)
    finally:
        broker.crash()


def refusal(server: Broker, members: Members) -> str:
    consumer = members.share(server, fresh_name("app"), [fresh_topic(server)])
    return consumer.wait_event("error").reason or ""


def test_the_page_has_all_clients_and_checks() -> None:
    shown = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    head, _, *rows = [line.strip("| ").split(" | ") for line in shown.splitlines() if line.startswith("|")]
    assert head == list(CHECKS)
    assert [any(row[0].startswith(client) for client in CLIENTS) for row in rows] == [True] * len(CLIENTS)
