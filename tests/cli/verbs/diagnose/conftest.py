"""The scene of groups on a real broker."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.cli.verbs.diagnose.scene import Scene
from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name


@pytest.fixture
def scene(broker: Broker) -> Iterator[Scene]:
    with ExitStack() as stack:
        made = Scene(broker, fresh_name("lag"), stack)
        yield made
        made.ended.set()
    for consumer in made.consumers:
        consumer.close()
