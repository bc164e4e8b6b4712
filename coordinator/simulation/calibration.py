"""Whether the simulated past of a group agrees with the observed one, and where it does not.

A figure agrees if the observed one is within the range of the seeds, or differs from their median by no more than the
tolerance. Both are counted in the same way, from the log that the broker or the simulation has written."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median_high
from typing import Final

from coordinator.simulation.from_history import Past
from coordinator.simulation.what_if import PlayedPast
from groups.history.costs import rebalanced_at

TOLERANCE: Final = 0.25  # Of the observed figure
LEAST_REBALANCES: Final = 1
LEAST_MOVED: Final = 2
LEAST_S: Final = 0.2
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
        is_in_range = self.lowest <= self.observed <= self.highest
        return is_in_range or abs(self.observed - self.simulated) <= self.tolerated


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
    least = {
        "rebalances": LEAST_REBALANCES,
        "moved": LEAST_MOVED,
        "without_owner_s": LEAST_S * max(past.observed.moved, 1),
    }
    figures = tuple(
        ComparedFigure(
            name=name,
            observed=(observed := getattr(past.observed, name)),
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
