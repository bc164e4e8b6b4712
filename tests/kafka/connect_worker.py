"""A worker of Kafka Connect in a separate process, and its REST API."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from tests.kafka.broker import RunningBroker
from tests.kafka.java import java
from tests.kafka.ports import HOST, free_ports
from tests.kafka.process import end, kill
from tests.kafka.wait import wait_until

ANSWER_S = 60.0


class ConnectWorker:
    """A distributed worker, started at once; ended by `end` or killed by `kill`, and started again by `start`. Workers
    of one `group` on a broker are one cluster. `settings` win over those of here."""

    def __init__(
        self,
        jars: Path,
        broker: RunningBroker,
        directory: Path,
        settings: Mapping[str, str] | None = None,
        *,
        group: str = "connect-cluster",
    ) -> None:
        (self._port,) = free_ports(1)
        self._jars, self._directory = jars, directory
        text = "org.apache.kafka.connect.storage.StringConverter"
        stores = [f"{store}.storage" for store in ("config", "offset", "status")]
        lines = {
            "bootstrap.servers": broker.bootstrap,
            "group.id": group,
            "listeners": f"http://{HOST}:{self._port}",
            "plugin.discovery": "only_scan",
            "key.converter": text,
            "value.converter": text,
            "offset.flush.interval.ms": "1000",
            **{f"{store}.topic": f"{group}-{store}" for store in stores},
            **{f"{store}.replication.factor": "1" for store in stores},
            **(settings or {}),
        }
        directory.mkdir(exist_ok=True)
        self._properties = directory / "worker.properties"
        self._properties.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
        self.log = directory / "connect.log"
        self.start()

    @property
    def id(self) -> str:
        """The worker's id in the answers of the REST API: its address."""
        return f"{HOST}:{self._port}"

    def start(self) -> None:
        """Start it without waiting: `ready` does."""
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                java(self._jars, main, str(self._properties), heap_mb=256),
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._directory,
            )

    def ready(self) -> ConnectWorker:
        """Return when the REST API answers."""
        wait_until(self._answers, lambda: f"Connect answers:\n{self.log.read_text()[-2000:]}", every_s=0.5)
        return self

    def ask(self, method: str, path: str, body: Mapping[str, str] | None = None) -> Any:
        """What the REST API answers, None for nothing. Raises HTTPError."""
        content = None if body is None else json.dumps(body).encode()
        request = Request(
            f"http://{HOST}:{self._port}{path}",
            method=method,
            data=content,
            headers={"Content-Type": "application/json"},
        )
        with urlopen(request, timeout=ANSWER_S) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def end(self) -> None:
        end(self._process)

    def kill(self) -> None:
        kill(self._process)

    def _answers(self) -> bool:
        if self._process.poll() is not None:
            raise AssertionError(f"Connect did not start:\n{self.log.read_text()[-2000:]}")
        try:
            self.ask("GET", "/connectors")
        except (URLError, HTTPError, ConnectionError, TimeoutError):
            return False
        return True
