"""Observers of a run."""

from coordinator.simulation.node import NodeWatcher
from coordinator.simulation.process import ProcessWatcher


class Watcher(NodeWatcher, ProcessWatcher):
    """Observes everything: nodes and processes call the methods of all observers, in the order of `World.watchers`."""
