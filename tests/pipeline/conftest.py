"""The Spark session that the tests of the pipeline share: one per process, two cores, nothing of it left behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pipeline.session import MissingSpark, SessionSettings, check_spark, session
from tests.support.long import IS_LONG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REQUIRE = "KOHORT_REQUIRE_SPARK"
CONF = {
    "spark.driver.memory": "1g",
    "spark.default.parallelism": "2",
    "spark.sql.shuffle.partitions": "4"
    if IS_LONG
    else "2",  # fewer are quicker, more show what hangs on them
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    try:
        check_spark()
    except MissingSpark as missing:
        if os.environ.get(REQUIRE) == "1":
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))
    with session(SessionSettings(master="local[2]", conf=CONF, input_bytes=0)) as running:
        yield running
