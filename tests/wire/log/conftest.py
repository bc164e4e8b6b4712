"""What tests of the log share: Kafka's own classes for batches and segments."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.wire.log.java_batches import JavaBatches


@pytest.fixture(scope="session")
def java(kafka_jars: Path) -> Iterator[JavaBatches]:
    with closing(JavaBatches(kafka_jars)) as process:
        yield process
