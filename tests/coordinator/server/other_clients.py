"""Sends and reads records with kafka-python and aiokafka, in a separate process because of their warnings.

    python -m tests.coordinator.server.other_clients BOOTSTRAP TOPIC COUNT
The topic already has COUNT records. Prints the records that were sent, and those that each client read."""

from __future__ import annotations

import asyncio
import json
import sys

WAIT_MS = 20_000


def kafka_python_sends(bootstrap: str, topic: str) -> list[str]:
    """Send compressed records."""
    from kafka import KafkaProducer

    values = [f"kafka-python {number}" for number in range(50)]
    producer = KafkaProducer(bootstrap_servers=bootstrap, compression_type="gzip")
    for sent in [producer.send(topic, value.encode()) for value in values]:
        sent.get(WAIT_MS / 1000)
    producer.close()
    return values


def kafka_python_reads(bootstrap: str, topic: str, count: int) -> list[str]:
    """Read as a member of a group."""
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        topic, bootstrap_servers=bootstrap, group_id=f"{topic}-py", auto_offset_reset="earliest"
    )
    read: list[str] = []
    while len(read) < count:
        polled = consumer.poll(timeout_ms=WAIT_MS)
        if not polled:
            break
        read += (record.value.decode() for records in polled.values() for record in records)
    consumer.close()
    return read


async def aiokafka_sends(bootstrap: str, topic: str) -> list[str]:
    """Send one record at a time, numbered."""
    from aiokafka import AIOKafkaProducer

    values = [f"aiokafka {number}" for number in range(50)]
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=True) as producer:
        for value in values:
            await producer.send_and_wait(topic, value.encode())
    return values


async def aiokafka_reads(bootstrap: str, topic: str, count: int) -> list[str]:
    """Read as a member of a group."""
    from aiokafka import AIOKafkaConsumer

    read: list[str] = []
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=bootstrap, group_id=f"{topic}-aio", auto_offset_reset="earliest"
    )
    async with consumer:
        while len(read) < count:
            polled = await consumer.getmany(timeout_ms=WAIT_MS)
            if not polled:
                break
            read += (record.value.decode() for records in polled.values() for record in records)
    return read


def main() -> None:
    """See the module."""
    bootstrap, topic, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    sent = kafka_python_sends(bootstrap, topic) + asyncio.run(aiokafka_sends(bootstrap, topic))
    total = count + len(sent)
    print(
        json.dumps(
            {
                "sent": sent,
                "kafka-python": kafka_python_reads(bootstrap, topic, total),
                "aiokafka": asyncio.run(aiokafka_reads(bootstrap, topic, total)),
            }
        )
    )


if __name__ == "__main__":
    main()
