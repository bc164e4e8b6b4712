"""Sources of observations: a live source, or a recording."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeAlias

from cli.errors import CommandError
from cli.selection import ReusableSource
from cli.verbs.watch.recording import Header, Recording
from cli.verbs.watch.repeat import pause_s, retry_text
from cli.verbs.watch.state import WatchObservation, observe
from groups.model import Problem
from wire.client.errors import WireError


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedObservation:
    """An observation, and how long to wait before the next one."""

    observation: WatchObservation
    pause_s: float
    failure: str = ""  # Why nothing could be read; empty if something was


class LiveFeed:
    """Observes groups repeatedly. The first observation must succeed; later ones may fail."""

    def __init__(self, opened: ReusableSource, groups: Sequence[str], every_s: float) -> None:
        self._opened, self._groups, self._every_s = opened, tuple(groups), every_s
        self._name, self._started_ms = opened.name, _now_ms()

    @property
    def header(self) -> Header:
        every_ms = round(self._every_s * 1000)
        return Header(at_ms=self._started_ms, groups=self._groups, source=self._name, every_ms=every_ms)

    def observations(self) -> Iterator[TimedObservation]:
        failures, has_observed = 0, False
        while True:
            started, asked_ms = time.monotonic(), _now_ms()
            failure = ""
            try:
                source = self._opened.get()
                self._name = source.name
                observation = observe(source, self._groups, _now_ms)
                self._opened.print_notices()
                failures, has_observed = 0, True
            except (WireError, CommandError) as error:
                if not has_observed or not self._opened.may_pass(error):
                    raise
                self._opened.close()
                failures += 1
                failure = retry_text(error)
                problems = (Problem(subject=self._name, message=str(error)),)
                observation = WatchObservation(asked_ms=asked_ms, at_ms=_now_ms(), problems=problems)
            pause = max(started + pause_s(self._every_s, failures) - time.monotonic(), 0.0)
            yield TimedObservation(observation=observation, pause_s=pause, failure=failure)


class ReplayFeed:
    """Replays a recording, `speed` times as fast; None means without waiting."""

    def __init__(self, recording: Recording, speed: float | None) -> None:
        self._recording, self._speed, self.header = recording, speed, recording.header

    def observations(self) -> Iterator[TimedObservation]:
        observations = self._recording.observations
        for observation, following in zip_longest(observations, observations[1:]):
            gap_ms = max(following.at_ms - observation.at_ms, 0) if following else 0
            pause = 0.0 if self._speed is None else gap_ms / 1000 / self._speed
            failed = () if observation.groups else observation.problems
            failure = "; ".join(problem.message for problem in failed)
            yield TimedObservation(observation=observation, pause_s=pause, failure=failure)


Feed: TypeAlias = LiveFeed | ReplayFeed  # A source of observations, each made when it is requested


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
