"""The session of the pipeline's tests, with Spark's Kafka source; and a broker whose log has groups of every kind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pipeline.sources.jars import MissingKafkaSource, kafka_jars
from tests.coordinator.store.real_log import RealLog
from tests.coordinator.store.restart import broker_on
from tests.kafka.broker import Broker
from tests.kafka.plugin import REQUIRE, SKIPPED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def source_jars() -> tuple[str, ...]:
    try:
        return kafka_jars()
    except MissingKafkaSource as missing:
        reason = f"{SKIPPED}: {missing}"
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def live_spark(spark: SparkSession, source_jars: tuple[str, ...]) -> SparkSession:
    jvm: Any = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    for jar in source_jars:
        loader.addURL(jvm.java.io.File(jar).toURI().toURL())
    return spark


@pytest.fixture(scope="session")
def old_broker(
    kafka_jars: Path, real_log: RealLog, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    with broker_on(kafka_jars, real_log.data, tmp_path_factory.mktemp("old") / "broker") as broker:
        yield broker
