"""A JVM that hosts Java consumers: starting the second one costs no JVM."""

import json
from pathlib import Path

from tests.kafka.child import Child
from tests.kafka.events import EventLog
from tests.kafka.programs import program
from tests.kafka.wait import PATIENCE_S


class JavaHost:
    """One JVM, started with its first consumer; `java/Member.java` describes its input and output."""

    def __init__(self, jars: Path) -> None:
        self._jars = jars
        self._child: Child | None = None

    @property
    def child(self) -> Child:
        if self._child is None:
            quiet = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",)
            self._child = Child(program(self._jars, "Member", heap_mb=256, options=quiet))
        return self._child

    @property
    def log(self) -> EventLog:
        return self.child.log

    def start(self, command: dict[str, object]) -> None:
        self.child.send(json.dumps({"do": "start", **command}))

    def act(self, name: str, action: str, **fields: object) -> None:
        self.child.send(json.dumps({"do": action, "member": name, **fields}))

    def ask_to_stop(self, name: str) -> None:
        self.act(name, "stop")

    def stop(self, name: str) -> None:
        self.ask_to_stop(name)

        def closed() -> bool:
            # One that failed has said so and needs no close.
            return any(event.kind in {"stopped", "error"} for event in self.log.of(name))

        self.log.wait(closed, f"{name} is closed", PATIENCE_S)

    def end(self, name: str) -> None:
        """Stop the last consumer, and the JVM."""
        try:
            self.stop(name)
        finally:
            self.crash()

    def crash(self) -> None:
        if self._child is not None:
            self._child.crash()
