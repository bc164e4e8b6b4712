"""Applications of Kafka Streams of any release on the classic protocol (`java/ClassicStreams.java`)."""

import json
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

from tests.kafka import jars
from tests.kafka.broker import RunningBroker
from tests.kafka.java import java
from tests.kafka.process import kill
from tests.kafka.programs import SILENT, compiled

Tasks = dict[str, dict[str, list[str]]]
"""The tasks of each thread, by its client id and by kind: active, and standby with warm-ups."""


class ClassicStreams:
    """An application instance, in its own process."""

    def __init__(
        self,
        broker: RunningBroker,
        scratch: Path,
        release: str,
        application: str,
        topics: str,
        name: str,
        settings: Mapping[str, str],
        *,
        fails: bool = False,
        persistent: bool = False,
    ) -> None:
        """With `fails`, a record "fail" makes it request that the whole application shuts down; with `persistent`, its
        process keeps its id and the offsets of its state."""
        config = {
            "bootstrap.servers": broker.bootstrap,
            "application.id": application,
            "client.id": name,
            "state.dir": str(scratch / name),
            "session.timeout.ms": "6000",
            "heartbeat.interval.ms": "500",
            "auto.offset.reset": "earliest",
            **settings,
        }
        command = java(
            jars.fetch_streams(release),
            "ClassicStreams",
            topics,
            *(f"{key}={value}" for key, value in config.items()),
            heap_mb=160,
            options=(SILENT, f"-Dfails={str(fails).lower()}", f"-Dpersistent={str(persistent).lower()}"),
            classes=compiled(jars.fetch()),
        )
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.state, self.tasks = "CREATED", Tasks()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            said = json.loads(line)
            self.tasks, self.state = said["threads"], said["state"]

    def close(self) -> None:
        """Have it close its streams, and wait until its process has ended."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(30)
        self.kill()

    def kill(self) -> None:
        kill(self._process)
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
