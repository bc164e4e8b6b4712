"""A real Apache Kafka broker in a separate process."""

import hashlib
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pipeline.sources.jars import filled
from tests.kafka.java import java
from tests.kafka.ports import HOST, free_ports
from tests.kafka.process import end, kill
from tests.kafka.settings import server_properties
from tests.kafka.wait import wait_until

# Sixteen bytes in URL-safe base64, as `kafka-storage random-uuid` makes them.
CLUSTER_ID = "S29ob3J0VGVzdHNLYWZrYQ"
START_TIMEOUT_S = 180.0
STARTED = "Kafka Server started"
PORT_TAKEN = "Address already in use"
ATTEMPTS = 3


class BrokerFailedError(Exception):
    """The broker did not start or has died; the message ends with the tail of its log."""


class RunningBroker(Protocol):
    """A broker that clients connect to: a real one, or `kohort serve`."""

    port: int

    @property
    def bootstrap(self) -> str: ...

    def check_alive(self) -> None: ...


class Broker:
    """One node, broker and controller, on its own loopback ports. `log` is its output, `data` has the directories of
    the topics' partitions, `port` is where clients connect, `pid` of the last start. All is below `directory`."""

    def __init__(
        self,
        jars: Path,
        directory: Path,
        settings: Mapping[str, str] | None = None,
        *,
        heap_mb: int = 512,
        options: Sequence[str] = (),
        features: Mapping[str, int] | None = None,
        classes: Path | None = None,
    ) -> None:
        """`settings` are server properties that win over `settings.py`; `options` are of its JVM; `classes` is a
        directory of more classes; `features` are finalized at other levels than the version's own."""
        self.jars = jars
        self.directory = directory
        self.log = directory / "broker.log"
        self.data = directory / "data"
        self.port = 0
        self._properties = directory / "server.properties"
        self._overrides = dict(settings or {})
        self._heap_mb = heap_mb
        self._options, self._classes = options, classes
        self._features = dict(features or {})
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_started(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def pid(self) -> int:
        """The process id; a broker that was never started has none and raises BrokerFailedError."""
        if self._process is None:
            raise BrokerFailedError("the broker was not started")
        return self._process.pid

    def start(self) -> None:
        """Start it and return when it serves requests; the first start formats the storage on free ports."""
        if self._properties.exists():
            self._launch()
            return
        for attempt in range(ATTEMPTS):
            self._format()
            try:
                self._launch()
            except BrokerFailedError:
                # Between our choice of a port and the broker's use of it another process may have come.
                if attempt + 1 == ATTEMPTS or PORT_TAKEN not in self.log.read_text(errors="replace"):
                    raise
            else:
                return

    def stop(self, *, kill_after_s: float = 20.0) -> int | None:
        """Stop it, kill it after a while; data and ports stay. Returns the exit status, negative where killed."""
        return None if self._process is None else end(self._process, kill_after_s=kill_after_s)

    def crash(self) -> None:
        if self._process is not None:
            kill(self._process)

    def check_alive(self) -> None:
        status = None if self._process is None else self._process.poll()
        if self._process is None or status is not None:
            raise BrokerFailedError(f"the broker does not run (exit status {status})\n{self.log_tail()}")

    def log_tail(self, lines: int = 40) -> str:
        if not self.log.exists():
            return "(no log)"
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _format(self) -> None:
        self.data.mkdir(parents=True, exist_ok=True)
        self.port, controller = free_ports(2)
        properties = server_properties(self.data, self.port, controller, self._overrides)
        self._properties.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        formatted = self._formatted(properties)
        shutil.copytree(formatted, self.data, dirs_exist_ok=True)
        for number, other in enumerate(map(Path, properties["log.dirs"].split(",")[1:])):
            other.mkdir(parents=True, exist_ok=True)
            meta = (formatted / "meta.properties").read_text()
            # Twenty-two characters of base64 are sixteen bytes; each directory has a separate id.
            identity = f"directory.id=S29ob3J0RGlyZWN0b3J5{number}A"
            (other / "meta.properties").write_text(re.sub("directory.id=.*", identity, meta))

    def _formatted(self, properties: Mapping[str, str]) -> Path:
        """A log directory as `kafka-storage format` leaves it for such a node: created once, next to the jars."""
        node = {name: properties[name] for name in ("node.id", "process.roles")}
        made_of = f"{self.jars.name} {sorted(node.items())} {sorted(self._features.items())}"
        stamp = hashlib.sha256(made_of.encode()).hexdigest()[:12]

        def fill(target: Path) -> None:
            target.mkdir()
            settings = target.with_name("format.properties")
            lines = {**properties, "log.dirs": str(target)}
            settings.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
            # The defaults finalize group.version, share.version and streams.version.
            levels = [
                word for name, level in self._features.items() for word in ("--feature", f"{name}={level}")
            ]
            args = ("format", "-t", CLUSTER_ID, "-c", str(settings), *levels)
            self._log_of(java(self.jars, "kafka.tools.StorageTool", *args))

        return filled(self.jars.with_name(f"formatted-{stamp}"), fill)

    def _log_of(self, command: list[str]) -> None:
        with self.log.open("wb") as log:
            status = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
        if status != 0:
            raise BrokerFailedError(
                f"formatting the storage failed (exit status {status})\n{self.log_tail()}"
            )

    def _launch(self) -> None:
        command = java(
            self.jars,
            "kafka.Kafka",
            str(self._properties),
            heap_mb=self._heap_mb,
            options=self._options,
            classes=self._classes,
        )
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, cwd=self.directory
            )
        try:
            wait_until(self._serves, "the broker serves requests", timeout_s=START_TIMEOUT_S)
        except TimeoutError as error:
            self.crash()
            raise BrokerFailedError(f"{error}\n{self.log_tail()}") from error
        except BaseException:
            self.crash()
            raise

    def _serves(self) -> bool:
        self.check_alive()
        return STARTED in self.log.read_text(errors="replace")
