"""A consumer of the topic `orders`, for trying out `kohort migrate`: consumer.py PROPERTIES. It ends at SIGTERM."""

import signal
import sys
from pathlib import Path

from confluent_kafka import Consumer

lines = Path(sys.argv[1]).read_text().splitlines()
settings = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
consumer = Consumer(settings)
consumer.subscribe(["orders"])
is_ended = False


def end(*_):
    global is_ended
    is_ended = True


signal.signal(signal.SIGTERM, end)
while not is_ended:
    consumer.poll(0.5)
consumer.close()
