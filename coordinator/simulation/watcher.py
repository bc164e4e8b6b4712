"""Observers of a run."""

from collections.abc import Iterable, Sequence

from coordinator.simulation.node import NodeWatcher
from coordinator.simulation.process import ProcessWatcher


class Watcher(NodeWatcher, ProcessWatcher):
    """Observes everything: nodes and processes call the methods of all observers, in the order of `World.watchers`."""


class Watchers:
    """The observers, in order. Only those are called that observe an event: most of them observe few."""

    def __init__(self, watchers: Iterable[Watcher]) -> None:
        self._all = list(watchers)
        self._of: dict[str, list[Watcher]] = {}

    def of(self, event: str) -> Sequence[Watcher]:
        """Those that observe an event, by the name of its method. The same list, whatever is appended or replaced."""
        observing = self._of.get(event)
        if observing is None:
            observing = self._of[event] = self._observing(event)
        return observing

    def append(self, watcher: Watcher) -> None:
        self._all.append(watcher)
        self._update()

    def replace(self, watcher: Watcher, other: Watcher) -> None:
        self._all[self._all.index(watcher)] = other
        self._update()

    def _observing(self, event: str) -> list[Watcher]:
        ignoring = getattr(Watcher, event)
        return [one for one in self._all if getattr(type(one), event) is not ignoring]

    def _update(self) -> None:
        for event, observing in self._of.items():
            observing[:] = self._observing(event)
