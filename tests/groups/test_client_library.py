"""What a member's ids tell of the library that it runs, and that ids which somebody chose tell nothing."""

from __future__ import annotations

import pytest

from groups.client_library import library_of, library_of_all
from groups.model import Client, Member

UUID = "3f0c6f9e-5a0b-4c1d-9d55-7c1f0a6b2e00"
UNKNOWN = (None, "not known")
BY_MEMBER = "inferred from the member id"
BY_CLIENT = "inferred from the client id"


@pytest.mark.parametrize(
    ("member", "client", "instance", "expected"),
    [
        (f"consumer-orders-1-{UUID}", "consumer-orders-1", None, ("java", BY_MEMBER)),
        (f"rdkafka-{UUID}", "rdkafka", None, ("librdkafka", BY_MEMBER)),
        (f"kafka-python-2.0.2-{UUID}", None, None, ("kafka-python", BY_MEMBER)),
        # Under the consumer protocol the member id is drawn by the client or the broker.
        ("Yz3kq0mOTf2g8rVQm1xA9w", "consumer-orders-12", None, ("java", BY_CLIENT)),
        ("Yz3kq0mOTf2g8rVQm1xA9w", "rdkafka", None, ("librdkafka", BY_CLIENT)),
        ("Yz3kq0mOTf2g8rVQm1xA9w", "kgo", None, ("franz-go", BY_CLIENT)),
        (f"rack-a-{UUID}", "consumer-orders-rack-a", "rack-a", ("java", BY_CLIENT)),
        (f"rack-a-{UUID}", "consumer-orders-rack-b", "rack-a", UNKNOWN),
        (f"orders-{UUID}", "orders", None, UNKNOWN),
        (f"my-rdkafka-{UUID}", "my-rdkafka", None, UNKNOWN),
        ("m", None, None, UNKNOWN),
        (f"console-consumer-{UUID}", "console-consumer", None, ("java", BY_MEMBER)),
        ("Yz3kq0mOTf2g8rVQm1xA9w", "console-consumer", None, ("java", BY_CLIENT)),
        (f"perf-consumer-client-{UUID}", "perf-consumer-client", None, ("java", BY_MEMBER)),
        (
            f"connector-consumer-s3-sink-0-{UUID}",
            "connector-consumer-s3-sink-0",
            None,
            ("connect", BY_MEMBER),
        ),
        ("Yz3kq0mOTf2g8rVQm1xA9w", "connector-consumer-s3-sink-11", None, ("connect", BY_CLIENT)),
        (f"shop-{UUID}-StreamThread-1-consumer-{UUID}", None, None, ("java", BY_MEMBER)),
        ("Yz3kq0mOTf2g8rVQm1xA9w", f"shop-{UUID}-StreamThread-12-consumer", None, ("java", BY_CLIENT)),
        ("Yz3kq0mOTf2g8rVQm1xA9w", "shop-StreamThread-1-restore-consumer", None, UNKNOWN),
        (f"kafkajs-{UUID}", "kafkajs", None, ("kafkajs", BY_MEMBER)),
        (f"app@h1 (github.com/segmentio/kafka-go)-{UUID}", None, None, ("kafka-go", BY_MEMBER)),
        ("Yz3kq0mOTf2g8rVQm1xA9w", "app@h1 (github.com/segmentio/kafka-go)", None, ("kafka-go", BY_CLIENT)),
        (f"aiokafka-0.12.0-{UUID}", "aiokafka-0.12.0", None, ("aiokafka", BY_MEMBER)),
        (f"sarama-{UUID}", "sarama", None, ("sarama", BY_MEMBER)),
        (f"console-consumer-2-{UUID}", "console-consumer-2", None, UNKNOWN),
    ],
)
def test_default_ids_show_the_library(
    member: str, client: str | None, instance: str | None, expected: tuple[str | None, str]
) -> None:
    known = library_of(Member(id=member, instance=instance, client=Client(id=client)))
    assert (known.name, known.known_by) == expected


def test_what_the_source_recorded_wins() -> None:
    member = Member(id=f"rdkafka-{UUID}", client=Client(id="rdkafka", library="confluent-kafka-go"))
    assert library_of(member).name == "librdkafka"
    other = Member(id=f"rdkafka-{UUID}", client=Client(id="rdkafka", library="sarama"))
    assert (library_of(other).name, library_of(other).known_by) == ("sarama", "recorded in the source")


def test_members_that_differ_are_named() -> None:
    java = Member(id=f"consumer-g-1-{UUID}")
    librdkafka = Member(id=f"rdkafka-{UUID}")
    assert library_of_all([java, Member(id="m")]).name == "java"
    both = library_of_all([java, librdkafka])
    assert (both.name, both.known_by) == (None, "the members run java and librdkafka")
