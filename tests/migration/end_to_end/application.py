"""A deployed consumer: a name, a configuration, and one process after another that runs it."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kafka.broker import Broker
from tests.kafka.events import Event
from tests.kafka.member import Member
from tests.kafka.members import OTHERS, Members
from tests.migration.end_to_end.config_lines import apply
from tests.migration.end_to_end.journal import Journal, ended, read_journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """What a consumer asks for: topics, or what Java's consumer is given instead of them."""

    topics: Sequence[str] = ()  # librdkafka takes one that begins with `^` as a regex
    pattern: str | None = None  # A java.util.regex.Pattern
    re2: str | None = None  # A SubscriptionPattern, matched by the broker


@dataclass(slots=True, kw_only=True)
class Application:
    """One consumer as an operator knows it. `config` lacks the servers, the group and the client id, which is `name`;
    `polls_again`: it continues after an exception, which is an event then; `own_process`: Java in its own JVM."""

    name: str
    library: str
    broker: Broker
    group: str
    subscription: Subscription
    config: dict[str, str]
    members: Members
    directory: Path
    polls_again: bool = False
    own_process: bool = False
    running: Member | None = None
    lives: int = 0
    _past: list[Member] = field(default_factory=list)  # Its lives, in order
    _before: dict[str, str] = field(default_factory=dict)  # Every setting it once had, as it was last
    _journals: dict[str, Path] = field(default_factory=dict)
    _killed_ns: dict[str, int] = field(default_factory=dict)  # When a life ended that was not stopped

    def edit(self, lines: Iterable[str]) -> None:
        """Apply the configuration lines of a plan; they count from the next start on."""
        self._before = {**self._before, **self.config}
        self.config = apply(lines, self.config, self.library, self._before)

    def start(self) -> None:
        """Start it; ValueError when it runs."""
        if self.running is not None:
            raise ValueError(f"{self.name} runs already")
        self.lives += 1
        life = f"{self.name}.{self.lives}"
        journal = self._journals[life] = self.directory / f"{self.group}-{life}.journal"
        settings = {"client.id": self.name, **self.config}
        asked: dict[str, Any] = {key.replace(".", "_"): value for key, value in settings.items()}
        self.running = self._process(f"{self.group}-{life}", journal, asked)
        self._past.append(self.running)

    def _process(self, name: str, journal: Path, asked: dict[str, Any]) -> Member:
        where = (self.broker, self.group, self.subscription.topics, name)
        if self.library == "librdkafka":
            return self.members.confluent(*where, journal=journal, poll_again=self.polls_again, **asked)
        if self.library in OTHERS:
            return self.members.other(self.library, *where, journal=journal, **asked)
        asked |= {"pattern": self.subscription.pattern, "re2": self.subscription.re2}
        asked |= {"commit_when_revoked": True, "own_process": self.own_process}
        return self.members.java(*where, journal=journal, poll_again=self.polls_again, **asked)

    def crash(self) -> None:
        """Kill its process; ValueError when it does not run."""
        if self.running is None:
            raise ValueError(f"{self.name} does not run")
        self.running.crash()
        self.running = None
        self._killed_ns[f"{self.name}.{self.lives}"] = time.monotonic_ns()

    def stop(self) -> None:
        """Shut it down cleanly and wait for that; ValueError when it does not run."""
        if self.running is None:
            raise ValueError(f"{self.name} does not run")
        self.running.stop()
        self.running = None

    def restart(self, lines: Iterable[str] = ()) -> None:
        self.stop()
        self.edit(lines)
        self.start()

    def errors(self) -> list[str]:
        events = self.running.events() if self.running is not None else []
        return [event.reason or "" for event in events if event.kind == "error"]

    def thrown(self) -> list[Event]:
        return [event for life in self._past for event in life.events() if event.kind == "thrown"]

    def journals(self) -> list[Journal]:
        journals = [read_journal(life, path) for life, path in self._journals.items()]
        killed_ns = self._killed_ns
        return [ended(one, killed_ns[one.member]) if one.member in killed_ns else one for one in journals]
