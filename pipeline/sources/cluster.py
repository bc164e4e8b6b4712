"""A running cluster's `__consumer_offsets` and topics, requested through the client in Spark's JVM."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipeline.errors import PipelineError
from pipeline.sources.client_properties import PREFIX, without_secrets
from pipeline.sources.jars import MissingKafkaSource, how_to_get

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OFFSETS_TOPIC = "__consumer_offsets"
BOOTSTRAP = "kafka.bootstrap.servers"
GROUP_ID = "kafka.group.id"
GROUP_PREFIX = "kohort"  # of the group ids of Spark's consumers, which join no group but request its offsets
_SOURCE_PROVIDER = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
_TOPIC = re.compile(r"\(name=([\w.\-]+), topicId=([\w\-]+), internal=(?:true|false)\)")
_WRAPPERS = ("java.util.concurrent.ExecutionException", "java.util.concurrent.CompletionException")


_PLAINLY: Mapping[str, str] = {
    "UnknownTopicOrPartitionException": (
        f"there is no {OFFSETS_TOPIC} that this client may see: no group has committed yet, or the client lacks "
        f"DESCRIBE on the topic"
    ),
    "TopicAuthorizationException": f"the client lacks DESCRIBE and READ on {OFFSETS_TOPIC}",
    "GroupAuthorizationException": (
        f"the client lacks DESCRIBE on groups with the prefix {GROUP_PREFIX}-, which Spark's consumers "
        f"use; to use another group, set group.id in the client's properties"
    ),
}
"""Replacements for messages of Kafka's client that are too short."""


class ClusterUnreadable(PipelineError):
    """The cluster cannot be reached, refuses the client, or has no `__consumer_offsets` yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The offsets of a partition's first record and after the last one. `stable_end`: the first offset that an open
    transaction may have written; `end` if none is open."""

    partition: int
    begin: int
    stable_end: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsTopic:
    """The state of `__consumer_offsets` when it was requested."""

    cluster_id: str
    ranges: tuple[Range, ...]  # the ranges, ordered by partition

    @property
    def held_back(self) -> int:
        """The number of offsets after the first open transaction, of all partitions."""
        return sum(range_.end - range_.stable_end for range_ in self.ranges)


def check_kafka_source(spark: SparkSession) -> None:
    """Raises MissingKafkaSource: the session was started without the jars of the Kafka source."""
    jvm: Any = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    try:
        loader.loadClass(_SOURCE_PROVIDER)
    except Py4JJavaError:
        raise MissingKafkaSource(f"this Spark session has no Kafka source: {how_to_get()}") from None


def offsets_topic(spark: SparkSession, options: Mapping[str, str]) -> OffsetsTopic:
    """Request the topic's partitions and their ends. `options`: client settings, as `kafka.bootstrap.servers`. Raises
    MissingKafkaSource: the session was started without the jars. Raises ClusterUnreadable."""
    with _admin(spark, options) as admin:
        topic = _offsets_topic(spark, admin)
        # Without this check, Spark's consumers would fail in the middle of a long read. It must not be the first
        # request: if the topic is missing, it makes the broker create it.
        asks_as = options.get(GROUP_ID, f"{options.get('groupIdPrefix', GROUP_PREFIX)}-reader")
        admin.listConsumerGroupOffsets(asks_as).partitionsToOffsetAndMetadata().get()
        return topic


def topic_names(spark: SparkSession, options: Mapping[str, str]) -> dict[str, str]:
    """The names of all topics that the client may see, by id in Kafka's notation. Raises as `offsets_topic`."""
    with _admin(spark, options) as admin:
        jvm: Any = spark._jvm
        listing_options = jvm.org.apache.kafka.clients.admin.ListTopicsOptions().listInternal(True)
        # All as one text: a cluster may have a hundred thousand topics, and every call into the JVM takes time.
        listed: str = admin.listTopics(listing_options).listings().get().toString()
    return {topic_id: name for name, topic_id in _TOPIC.findall(listed)}


@contextmanager
def _admin(spark: SparkSession, options: Mapping[str, str]) -> Iterator[Any]:
    """Kafka's admin client; its errors are reported without the JVM's stack."""
    from py4j.protocol import Py4JJavaError

    check_kafka_source(spark)
    jvm: Any = spark._jvm
    properties = jvm.java.util.Properties()
    for key, value in options.items():
        if key.startswith(PREFIX):
            properties.setProperty(key.removeprefix(PREFIX), value)
    admin: Any = None
    try:
        admin = jvm.org.apache.kafka.clients.admin.Admin.create(properties)
        yield admin
    except Py4JJavaError as error:
        text = without_secrets(_error_text(error.java_exception), options)
        raise ClusterUnreadable(f"{options.get(BOOTSTRAP, 'the cluster')}: {text}") from None
    finally:
        if admin is not None:
            admin.close(jvm.java.time.Duration.ZERO)


def _offsets_topic(spark: SparkSession, admin: Any) -> OffsetsTopic:
    jvm: Any = spark._jvm
    kafka = jvm.org.apache.kafka
    cluster_id: str = admin.describeCluster().clusterId().get()
    topics = jvm.java.util.ArrayList()
    topics.add(OFFSETS_TOPIC)
    listed = admin.describeTopics(topics).allTopicNames().get().get(OFFSETS_TOPIC).partitions()
    partitions = sorted(listed.get(index).partition() for index in range(listed.size()))
    places = {partition: kafka.common.TopicPartition(OFFSETS_TOPIC, partition) for partition in partitions}

    def offsets(spec: object, level: object) -> dict[int, int]:
        requests = jvm.java.util.HashMap()
        for partition in places.values():
            requests.put(partition, spec)
        options = kafka.clients.admin.ListOffsetsOptions(level)
        listed = admin.listOffsets(requests, options).all().get()
        return {number: listed.get(partition).offset() for number, partition in places.items()}

    spec, level = kafka.clients.admin.OffsetSpec, kafka.common.IsolationLevel
    begins = offsets(spec.earliest(), level.READ_UNCOMMITTED)
    stable = offsets(spec.latest(), level.READ_COMMITTED)
    # Requested last: it must not be before the stable end.
    ends = offsets(spec.latest(), level.READ_UNCOMMITTED)
    ranges = tuple(
        Range(partition=partition, begin=begins[partition], stable_end=stable[partition], end=ends[partition])
        for partition in partitions
    )
    return OffsetsTopic(cluster_id=cluster_id, ranges=ranges)


def _error_text(exception: Any) -> str:
    """The class and message of the innermost relevant exception."""
    while exception.getClass().getName() in _WRAPPERS and exception.getCause() is not None:
        exception = exception.getCause()
    name: str = exception.getClass().getSimpleName()
    parts: list[str] = [exception.getMessage() or "no message"]
    cause = exception.getCause()
    while cause is not None:
        message = cause.getMessage()
        if message and message not in parts[-1]:
            parts.append(message)
        cause = cause.getCause()
    if "PBES2" in parts[-1]:
        parts.append("Java before 19 cannot decrypt such a key: use one without a password, in PKCS #8")
    return _PLAINLY.get(name) or f"{name}: {'; '.join(parts)}"
