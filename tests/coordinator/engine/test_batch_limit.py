"""`message.max.bytes`: what a request changes is one batch, and one that is too large changes nothing. The codes are
those of 4.3.1: tests/conformance/scripts/limits.yaml."""

import pytest

from coordinator.engine.context import check_fits
from coordinator.engine.engine import Engine
from coordinator.errors import CannotBeWritten
from coordinator.store.records import encode_record
from tests.coordinator.engine.consumer import Consumer, images
from tests.coordinator.engine.driver import Driver
from tests.coordinator.engine.migrating import ClassicConsumer, classic_group
from wire.errors import ErrorCode
from wire.log.batch_writer import encode_batch

FAILED = ErrorCode.UNKNOWN_SERVER_ERROR


def writing(driver: Driver) -> Driver:
    """The same groups, in a coordinator that writes a log."""
    config, topics = driver.engine.config, driver.engine.topics
    driver.engine = Engine(config, topics, encode_record)
    for record in driver.records:
        driver.engine.replay(record)
    driver.take(driver.engine.loaded(driver.now_ms))
    return driver


@pytest.mark.parametrize("count", [1, 2, 40])
def test_the_bound_counts_the_header_of_the_batch(count: int) -> None:
    records = [(b"key", b"x" * 10 * number) for number in range(count - 1)] + [(b"tombstone", None)]
    size = len(encode_batch(records, base_offset=0, timestamp=0))
    check_fits(records, size)
    with pytest.raises(CannotBeWritten, match=rf"{count} records and {size} bytes .* \({size - 1}\)"):
        check_fits(records, size - 1)


def test_a_group_too_large_to_be_upgraded_stays_a_classic_one() -> None:
    driver = Driver(images(("foo", 120)), message_max_bytes="2000")
    x = ClassicConsumer(driver, "x", owned={"foo": list(range(120))})
    classic_group(driver, 5, x)
    before = driver.records[:]
    writing(driver)
    assert Consumer(driver, "a").join().error is FAILED
    assert (driver.records, x.beat()) == (before, ErrorCode.NONE)
    driver.advance(x.session_timeout_ms - 1)
    assert x.beat() is ErrorCode.NONE
