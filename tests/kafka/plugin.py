"""The fixtures that give a test a real broker; see README.md."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.kafka.broker import Broker
from tests.kafka.coordinator import ensure_archive, running_broker
from tests.kafka.jars import KafkaUnavailableError, fetch
from tests.kafka.java_host import JavaHost
from tests.kafka.members import OTHERS, Members
from tests.kafka.other_programs import ProgramUnavailableError
from tests.kafka.secure import SecureBroker, secure_broker
from tests.wire.client.certificates import need_openssl

REQUIRE = "KOHORT_REQUIRE_KAFKA"
SKIPPED = "no real broker"
REQUIRE_GO = "KOHORT_REQUIRE_GO"
REQUIRE_NODE = "KOHORT_REQUIRE_NODE"
SKIPPED_OTHER = "no consumer of"

StartBroker = Callable[[Mapping[str, str]], Broker]


@pytest.fixture(scope="session")
def kafka_jars() -> Path:
    try:
        jars = fetch()
        ensure_archive(jars)
        return jars
    except KafkaUnavailableError as error:
        reason = f"{SKIPPED}: {error}"
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def kafka_broker(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with running_broker(kafka_jars, tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture(scope="session")
def session_broker(kafka_broker: Broker) -> Broker:
    return kafka_broker


@pytest.fixture
def broker(session_broker: Broker) -> Iterator[Broker]:
    session_broker.check_alive()
    yield session_broker
    session_broker.check_alive()


@pytest.fixture
def start_broker(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartBroker]:
    with ExitStack() as stack:

        def start(settings: Mapping[str, str]) -> Broker:
            directory = tmp_path_factory.mktemp("own-broker")
            return stack.enter_context(running_broker(kafka_jars, directory, settings))

        yield start


@pytest.fixture(scope="session")
def secure(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureBroker]:
    need_openssl()
    with secure_broker(kafka_jars, tmp_path_factory.mktemp("secure")) as running:
        yield running


@pytest.fixture(scope="session")
def program() -> Callable[[str], None]:
    def build(library: str) -> None:
        try:
            OTHERS[library]()
        except ProgramUnavailableError as error:
            reason = f"{SKIPPED_OTHER} {library}: {error}"
            if os.environ.get(REQUIRE_NODE if library == "kafkajs" else REQUIRE_GO) == "1":
                pytest.fail(reason, pytrace=False)
            pytest.skip(reason)

    return build


@pytest.fixture(scope="session")
def java_host(kafka_jars: Path) -> Iterator[JavaHost]:
    host = JavaHost(kafka_jars)
    yield host
    host.crash()


@pytest.fixture
def members(kafka_jars: Path, java_host: JavaHost, tmp_path: Path) -> Iterator[Members]:
    started = Members(java_host, kafka_jars, tmp_path)
    yield started
    started.end()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests had no broker or consumer to run against, and how to make that a failure."""
    for what, reason, require in (
        ("a real Kafka broker", SKIPPED, REQUIRE),
        ("a consumer of Go or Node.js", SKIPPED_OTHER, f"{REQUIRE_GO}=1 {REQUIRE_NODE}"),
    ):
        skipped = sum(reason in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
        if skipped:
            terminalreporter.write_line(
                f"Skipped for want of {what}: {skipped} ({require}=1 makes that a failure).", yellow=True
            )
