"""A worker of Kafka Connect in a separate process, and its REST API."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from tests.kafka.broker import Broker
from tests.kafka.java import java
from tests.kafka.ports import HOST, free_ports
from tests.kafka.process import end
from tests.kafka.wait import wait_until

ANSWER_S = 60.0


class ConnectWorker:
    """The only worker of its cluster; ended by `end`."""

    def __init__(self, jars: Path, broker: Broker, directory: Path) -> None:
        (self._port,) = free_ports(1)
        properties = directory / "worker.properties"
        text = "org.apache.kafka.connect.storage.StringConverter"
        stores = [f"{store}.storage" for store in ("config", "offset", "status")]
        settings = {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "connect-cluster",
            "listeners": f"http://{HOST}:{self._port}",
            "plugin.discovery": "only_scan",
            "key.converter": text,
            "value.converter": text,
            "offset.flush.interval.ms": "1000",
            **{f"{store}.topic": f"connect-{store}" for store in stores},
            **{f"{store}.replication.factor": "1" for store in stores},
        }
        properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        self.log = directory / "connect.log"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                java(jars, "org.apache.kafka.connect.cli.ConnectDistributed", str(properties), heap_mb=256),
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=directory,
            )
        wait_until(self._answers, lambda: f"Connect answers:\n{self.log.read_text()[-2000:]}", every_s=0.5)

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

    def _answers(self) -> bool:
        if self._process.poll() is not None:
            raise AssertionError(f"Connect did not start:\n{self.log.read_text()[-2000:]}")
        try:
            self.ask("GET", "/connectors")
        except (URLError, HTTPError, ConnectionError, TimeoutError):
            return False
        return True
