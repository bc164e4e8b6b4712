"""Kafka's classes as the JVM keeps them in memory: a broker that maps them starts in half of the time."""

import os
import tempfile
from pathlib import Path

from tests.kafka.broker import Broker, BrokerFailedError
from tests.kafka.java import archive_of

DUMP_S = 60.0
"""How long the JVM may take to write the archive, which it does at its end."""


def ensure_archive(jars: Path) -> None:
    """Archive the classes that a broker loads, next to the jars, unless that is done; takes six seconds.

    Two processes may do this at once: each writes a separate file and the last rename wins. Where it cannot be
    done (a Java without such archives) brokers start as slowly as ever.
    """
    target = archive_of(jars)
    if target.is_file():
        return
    with tempfile.TemporaryDirectory(prefix=".archive-", dir=target.parent) as scratch:
        made = Path(scratch) / target.name
        broker = Broker(jars, Path(scratch), options=[f"-XX:ArchiveClassesAtExit={made}"])
        try:
            broker.start()
        except BrokerFailedError:
            return
        finally:
            status = broker.stop(kill_after_s=DUMP_S)
        was_killed = status is not None and status < 0
        if made.is_file() and not was_killed:
            os.replace(made, target)
