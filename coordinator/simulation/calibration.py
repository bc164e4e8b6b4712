"""Whether the simulated past of a group agrees with the observed one, and where it does not.

A figure agrees if the observed one differs from the median of the seeds by no more than the tolerance, or, within
the range of the seeds, by no more than half of it. Both are counted in the same way, from the log that the broker or
the simulation has written."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median_high
from typing import Final

from coordinator.simulation.from_history import Past
from coordinator.simulation.what_if import PlayedPast
from groups.history.costs import rebalanced_at

TOLERANCE: Final = 0.25  # Of the observed figure
MOST: Final = (
    0.5  # Of the observed figure: a greater difference never agrees, unless it is less than `TRIFLE_S`
)
TRIFLE_S: Final = 1.0
LEAST_REBALANCES: Final = 1
LEAST_MOVED: Final = 2
LEAST_S: Final = 0.1
"""Smaller differences agree: of the time without an owner, for each partition that moved, since a real network, disk
and listener take time."""
_MOST_SHOWN = 3
_APART_US = 60_000_000  # Rebalances further apart belong to different episodes


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedFigure:
    """A figure of the past, and of the median, lowest and highest seed."""

    name: str  # As in `WhatIfCost`
    observed: float
    simulated: float
    lowest: float
    highest: float
    tolerated: float  # The greatest difference that agrees

    @property
    def agrees(self) -> bool:
        difference = abs(self.observed - self.simulated)
        is_in_range = self.lowest <= self.observed <= self.highest
        return difference <= self.tolerated or (is_in_range and difference <= MOST * self.observed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A part of the period in which the numbers of rebalances differ; times in µs since 1970."""

    since: int
    until: int
    observed: int
    simulated: int  # The median of the seeds


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    figures: tuple[ComparedFigure, ...]
    episodes: tuple[Episode, ...]  # Those that differ most, in order of time

    @property
    def agrees(self) -> bool:
        return all(figure.agrees for figure in self.figures)


def calibration_of(past: Past, played: PlayedPast) -> Calibration:
    """Compares the past with its simulation."""
    middle, lowest, highest = played.median, played.lowest, played.highest
    seen = past.observed
    least = {
        "rebalances": min(LEAST_REBALANCES, MOST * seen.rebalances),
        "moved": min(LEAST_MOVED, MOST * seen.moved),
        "without_owner_s": min(LEAST_S * seen.moved, max(MOST * seen.without_owner_s, TRIFLE_S)),
    }
    figures = tuple(
        ComparedFigure(
            name=name,
            observed=(observed := getattr(seen, name)),
            simulated=getattr(middle, name),
            lowest=getattr(lowest, name),
            highest=getattr(highest, name),
            tolerated=max(TOLERANCE * observed, floor),
        )
        for name, floor in least.items()
    )
    differing = sorted(
        _episodes(past, played), key=lambda episode: -abs(episode.observed - episode.simulated)
    )
    shown = sorted(differing[:_MOST_SHOWN], key=lambda episode: episode.since)
    return Calibration(figures=figures, episodes=tuple(shown))


def _episodes(past: Past, played: PlayedPast) -> Iterator[Episode]:
    """The episodes in which a typical seed has another number of rebalances than was observed."""
    observed = sorted(map(rebalanced_at, past.rebalances))
    of_seeds = [sorted(run.rebalanced_at) for run in played.runs]
    for since, until in _spans(sorted([*observed, *(time for times in of_seeds for time in times)])):
        counts = [_within(times, since, until) for times in of_seeds]
        count, simulated = _within(observed, since, until), median_high(counts)
        if count != simulated:
            yield Episode(since=since, until=until, observed=count, simulated=simulated)


def _spans(times: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last times, with nothing for `_APART_US` between a span and the next one."""
    begin = previous = None
    for time in times:
        if begin is not None and previous is not None and time - previous > _APART_US:
            yield begin, previous
            begin = None
        begin, previous = time if begin is None else begin, time
    if begin is not None and previous is not None:
        yield begin, previous


def _within(times: Sequence[int], since: int, until: int) -> int:
    return bisect_right(times, until) - bisect_left(times, since)
