"""The one broker of the server: its topics, its group settings, and the engine with its clock.

Everything runs in one event loop: a call of the engine is never interrupted by another.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from uuid import uuid4

from coordinator.broker.answers import Answer
from coordinator.broker.calls import Call, Request
from coordinator.broker.config import Config
from coordinator.broker.engine import Engine
from coordinator.broker.result import Result
from coordinator.uuids import format_uuid
from coordinator.wire.server.settings import NodeSettings
from coordinator.wire.server.topics import Topics

_log = logging.getLogger(__name__)
# A deadline far away is looked at again: the loop's clock may run differently from ours.
LONGEST_SLEEP_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sent a request: the client id, "" for none, and the host as Kafka shows it (`/127.0.0.1`)."""

    client_id: str
    host: str


class Node:
    """See the module. `host` and `port` are what clients are told to connect to."""

    def __init__(self, settings: NodeSettings, config: Config) -> None:
        self.settings = settings
        self.config = config
        self.cluster_id = format_uuid(uuid4())
        self.host = ""
        self.port = 0
        self.topics = Topics(settings.broker_rack)
        self.group_settings: dict[str, dict[str, str]] = {}
        self._engine = Engine(config, self.topics.image)
        self._tickets = count(1)
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._began = time.time() - time.monotonic()
        self._alarm: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to watch the clock; the event loop must run."""
        self._deliver(self._engine.loaded(self.now_ms()))

    def stop(self) -> None:
        """Stop watching the clock; calls that wait are cancelled."""
        if self._alarm is not None:
            self._alarm.cancel()
        for future in self._waiting.values():
            future.cancel()

    def now_ms(self) -> int:
        """Milliseconds since 1970, by a clock that never goes back."""
        return int((self._began + time.monotonic()) * 1000)

    async def ask(self, request: Request, caller: Caller) -> Answer:
        """Hand a request to the engine and wait for its answer, however long that takes."""
        ticket = next(self._tickets)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[ticket] = future
        call = Call(
            ticket=ticket,
            request=request,
            now_ms=self.now_ms(),
            client_id=caller.client_id,
            host=caller.host,
            fresh_id=uuid4(),
        )
        self._deliver(self._engine.handle(call))
        try:
            return await future
        finally:
            self._waiting.pop(ticket, None)

    def topics_changed(self) -> None:
        """Tell the engine of the topics there are now."""
        self._deliver(self._engine.update_topics(self.topics.image, self.now_ms()))

    def set_group_settings(self, group: str, values: Mapping[str, str]) -> None:
        """Replace the settings of a group. :raises CoordinatorError: when they are not allowed"""
        self._engine.set_group_config(group, values)
        self.group_settings[group] = dict(values)

    def check_group_settings(self, group: str, values: Mapping[str, str]) -> None:
        """As `set_group_settings`, changing nothing."""
        before = self.group_settings.get(group, {})
        self._engine.set_group_config(group, values)
        self._engine.set_group_config(group, before)

    def _deliver(self, result: Result) -> None:
        """Answer whom the engine answers. State is in memory only: there is no log to append the records to."""
        for ticket, answer in result.answers:
            future = self._waiting.get(ticket)
            if future is not None and not future.done():
                future.set_result(answer)
        self._set_alarm()

    def _set_alarm(self) -> None:
        """Wake up at the engine's next deadline, and at nothing else."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        deadline_ms = self._engine.next_deadline()
        if deadline_ms is not None:
            # One more millisecond: the deadline is not to be a fraction of it away when the alarm goes off.
            delay_s = min(max(0, deadline_ms - self.now_ms() + 1) / 1000, LONGEST_SLEEP_S)
            self._alarm = asyncio.get_running_loop().call_later(delay_s, self._expire)

    def _expire(self) -> None:
        self._alarm = None
        self._deliver(self._engine.expire(self.now_ms()))
