"""The snapshot file: what was known of a cluster's groups at a moment, as YAML or JSON."""

from groups.snapshot.model import FORMAT_VERSION, Snapshot
from groups.snapshot.read import read_snapshot
from groups.snapshot.tree import SnapshotError
from groups.snapshot.write import snapshot_text, write_snapshot

__all__ = [
    "FORMAT_VERSION",
    "Snapshot",
    "SnapshotError",
    "read_snapshot",
    "snapshot_text",
    "write_snapshot",
]
