"""A broker whose group coordinator is ready, which it is only once somebody asks for it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kio.schema.errors import ErrorCode

from tests.kafka.broker import Broker
from tests.kafka.wait import wait_until
from tests.kafka.wire import ask

GROUP_KEY = 0


def wait_for_coordinator(broker: Broker) -> None:
    """Have `__consumer_offsets` made and return when groups have a coordinator: clients then join at once."""

    def found() -> bool:
        answer = ask(broker.port, "FindCoordinator", 4, key_type=GROUP_KEY, coordinator_keys=["any"])
        return [one.error_code for one in answer.coordinators] == [ErrorCode.none]

    wait_until(found, "the group coordinator is there")


@contextmanager
def running_broker(
    jars: Path, directory: Path, settings: Mapping[str, str] | None = None, *, port: int | None = None
) -> Iterator[Broker]:
    """Run a broker with a coordinator; in the end it is killed, as what it leaves is not read.

    `port` is where the rig connects, for settings with listeners of their own.
    """
    broker = Broker(jars, directory, settings)
    try:
        broker.start()
        broker.port = port or broker.port
        wait_for_coordinator(broker)
        yield broker
    finally:
        broker.crash()
