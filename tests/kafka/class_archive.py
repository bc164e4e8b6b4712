"""Kafka's classes as the JVM keeps them in memory: a broker that maps them starts in half of the time."""

import os
import tempfile
from pathlib import Path

from tests.kafka.broker import Broker
from tests.kafka.java import archive_of


def ensure_archive(jars: Path) -> None:
    """Put the classes that a broker loads aside, beside the jars, unless that is done; takes six seconds.

    Two processes may do this at once: each writes a file of its own and the last rename wins.
    """
    target = archive_of(jars)
    if target.is_file():
        return
    with tempfile.TemporaryDirectory(prefix=".archive-", dir=target.parent) as scratch:
        made = Path(scratch) / target.name
        broker = Broker(jars, Path(scratch), options=[f"-XX:ArchiveClassesAtExit={made}"])
        try:
            broker.start()
        finally:
            broker.stop()
        os.replace(made, target)
