"""A snapshot in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from groups.model import Cluster, Group, Problem, Topic

FORMAT_VERSION = 1
"""Raised only when an older Kohort would misread the file; fields may be added without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Groups and the topics they read, by name."""

    cluster: Cluster = field(default_factory=Cluster)
    topics: Mapping[str, Topic] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    notices: tuple[Problem, ...] = ()
    """Fields that were passed over because this Kohort does not know them; not part of the file."""
