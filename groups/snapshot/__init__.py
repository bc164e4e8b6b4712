"""The snapshot file: what was known of a cluster's groups at a moment, as YAML or JSON."""

from coordinator.snapshot.model import FORMAT_VERSION, Snapshot
from coordinator.snapshot.read import read_snapshot
from coordinator.snapshot.tree import SnapshotError
from coordinator.snapshot.write import snapshot_text, write_snapshot

__all__ = [
    "FORMAT_VERSION",
    "Snapshot",
    "SnapshotError",
    "read_snapshot",
    "snapshot_text",
    "write_snapshot",
]
