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
        self._of: dict[str, Sequence[Watcher]] = {}

    def of(self, event: str) -> Sequence[Watcher]:
        """Those that observe an event, by the name of its method."""
        observing = self._of.get(event)
        if observing is None:
            ignoring = getattr(Watcher, event)
            observing = [one for one in self._all if getattr(type(one), event) is not ignoring]
            self._of[event] = observing
        return observing

    def append(self, watcher: Watcher) -> None:
        self._all.append(watcher)
        self._of.clear()

    def replace(self, watcher: Watcher, other: Watcher) -> None:
        self._all[self._all.index(watcher)] = other
        self._of.clear()
