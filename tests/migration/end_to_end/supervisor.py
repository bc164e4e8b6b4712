"""What runs the processes of a deployment, as systemd or Kubernetes would; `kohort migrate` asks it through `ctl.py`.
It keeps the configuration that each consumer had before the migration, and notes who was started how."""

import json
import os
import shlex
import signal
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.migration.end_to_end.application import Application
from tests.migration.end_to_end.deployment import Deployment

Config = dict[str, str]
CTL = Path(__file__).with_name("ctl.py")


@dataclass(slots=True, kw_only=True)
class Call:
    """A call of the command; `number` counts them from 1."""

    number: int
    name: str  # The consumer's
    action: str
    step: int
    round: int
    is_rollback: bool
    changed: Config  # Lines to set in the configuration before the migration
    removed: frozenset[str]
    config: Config  # The whole, with which it is to run
    process: int  # Of the command
    began_s: float
    ended_s: float | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    at_s: float
    name: str
    config: Config
    call: int | None  # None: without one


Act = Callable[["Supervisor", Call], int | None]
"""What is done instead of what a call asks for; its exit status, or None: it is never answered."""


@dataclass(slots=True, kw_only=True)
class Supervisor:
    deployment: Deployment
    away_s: float = 0.0  # From the end of a process to the start of the next one
    instead: dict[int, Act] = field(default_factory=dict)  # By the number of the call
    calls: list[Call] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    most_at_once: int = 0
    port: int = 0
    _original: dict[str, Config] = field(init=False)
    _ended: threading.Event = field(default_factory=threading.Event)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _locks: dict[str, threading.RLock] = field(init=False)

    def __post_init__(self) -> None:
        self._original = {name: dict(one.config) for name, one in self.by_name.items()}
        self._locks = {name: threading.RLock() for name in self.by_name}

    @property
    def by_name(self) -> Mapping[str, Application]:
        return {one.name: one for one in self.deployment.applications.values()}

    @property
    def command(self) -> str:
        return ctl(self.port)

    def original(self, name: str) -> Config:
        return dict(self._original[name])

    def due(self, name: str) -> Config | None:
        """The configuration that it was last asked to run with; None: it was last stopped."""
        calls = [call for call in self.calls if call.name == name]
        if not calls:
            return self.original(name)
        return None if calls[-1].action == "stop" else dict(calls[-1].config)

    def repeated_calls(self) -> list[Call]:
        """Calls for a consumer that had just been asked for in the same step, and carried out. The bridge may have one
        restarted several times, as it was."""
        latest: dict[str, tuple[object, ...]] = {}
        repeated = []
        for call in self.calls:
            what = (call.step, call.action, call.config, call.is_rollback)
            if latest.get(call.name) == what and call.config != self.original(call.name):
                repeated.append(call)
            if call.status == 0:
                latest[call.name] = what
        return repeated

    def answer(self, asked: Mapping[str, Any]) -> tuple[int, str] | None:
        """Do what a call asks for. None: there is no answer."""
        call = self._noted(asked)
        act = self.instead.get(call.number, Supervisor.do)
        status = act(self, call)
        call.ended_s, call.status = time.monotonic(), status
        if status is None:
            self._ended.wait()
            return None
        return status, f"{call.action} {call.name}: status {status}"

    def _noted(self, asked: Mapping[str, Any]) -> Call:
        name, now_s = asked["client_id"], time.monotonic()
        removed = frozenset(filter(None, asked["remove"].split(",")))
        changed = settings_in(Path(asked["config"]).read_text())
        with self._lock:
            call = Call(
                number=len(self.calls) + 1,
                name=name,
                action=asked["action"],
                step=int(asked["step"]),
                round=int(asked["round"]),
                is_rollback=bool(asked["rollback"]),
                changed=changed,
                removed=removed,
                config=self._with(name, changed, removed),
                process=asked["process"],
                began_s=now_s,
            )
            self.calls.append(call)
            self.most_at_once = max(self.most_at_once, sum(one.ended_s is None for one in self.calls))
        return call

    def for_other(self, call: Call, name: str) -> Config:
        """The lines of a call in the configuration of another consumer."""
        return self._with(name, call.changed, call.removed)

    def _with(self, name: str, changed: Config, removed: frozenset[str]) -> Config:
        kept = {key: value for key, value in self._original[name].items() if key not in removed}
        return {**kept, **changed}

    def do(self, call: Call) -> int:
        """What a right command does."""
        if call.action in ("stop", "restart"):
            self.stop(call.name)
        if call.action == "restart":
            time.sleep(self.away_s)
        if call.action in ("start", "restart"):
            self.start(call.name, call.config, call.number)
        return 0

    def stop(self, name: str) -> None:
        """Shut it down cleanly, and wait for that; one may not run, or have failed."""
        with self._locks[name], suppress(ValueError, ChildProcessError, TimeoutError):
            self.by_name[name].stop()
        self.by_name[name].running = None

    def start(self, name: str, config: Config, call: int | None = None) -> None:
        """Start it, unless it runs."""
        with self._locks[name]:
            application = self.by_name[name]
            if application.running is not None:
                return
            application.config = dict(config)
            application.start()
            self.starts.append(Start(at_s=time.monotonic(), name=name, config=dict(config), call=call))

    def restart(self, name: str, config: Config, call: int | None = None) -> None:
        self.stop(name)
        time.sleep(self.away_s)
        self.start(name, config, call)

    def replace(self, name: str, config: Config, call: int | None = None) -> None:
        """Start its next process before its present one is stopped."""
        with self._locks[name]:
            former, self.by_name[name].running = self.by_name[name].running, None
            self.start(name, config, call)
            time.sleep(self.away_s)
            if former is not None:
                with suppress(ChildProcessError, TimeoutError):  # it was fenced
                    former.stop()

    def kill(self, name: str) -> bool:
        """Kill its process; False if it does not run."""
        with self._locks[name]:
            try:
                self.by_name[name].crash()
            except ValueError:
                return False
        return True

    def end(self) -> None:
        """Answer no more."""
        self._ended.set()

    def kill_command(self, call: Call) -> None:
        call.ended_s = time.monotonic()
        os.kill(call.process, signal.SIGKILL)


def settings_in(text: str) -> Config:
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return {key: value for key, _, value in (line.partition("=") for line in lines)}


@contextmanager
def supervised(
    deployment: Deployment, *, away_s: float = 0.0, instead: Mapping[int, Act] | None = None
) -> Iterator[Supervisor]:
    """A supervisor that listens, for a deployment that runs."""
    supervisor = Supervisor(deployment=deployment, away_s=away_s, instead=dict(instead or {}))

    with answering(supervisor.answer) as supervisor.port:
        try:
            yield supervisor
        finally:
            supervisor.end()


@contextmanager
def answering(answer: Callable[[Mapping[str, Any]], tuple[int, str] | None]) -> Iterator[int]:
    """The port on which calls of `ctl.py` are answered, each in a separate thread; None: not answered."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            answered = answer(json.loads(self.rfile.readline()))
            if answered is not None:
                with suppress(OSError):  # it was killed meanwhile
                    self.wfile.write(json.dumps(answered).encode() + b"\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def ctl(port: int) -> str:
    """What to give `--restart`."""
    return shlex.join([sys.executable, "-IS", str(CTL), str(port)])
