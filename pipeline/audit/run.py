"""An audit from its sources to its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from migration.client_config import ClientConfig
from migration.clients import ToldClients
from migration.model import Destination
from migration.plan import DEFAULT_BOUNCE_S
from pipeline.history import Logs, Quarantined

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FIRST_SHOWN = 1_000
"""How many ranked groups a run carries per destination; all of them are in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshots:
    """Snapshot files, and directories that are searched for them (`*.yaml`, `*.yml`, `*.json`) with all below."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """What holds for every group, as the options of `kohort plan` say it for one."""

    destinations: tuple[Destination, ...] = (Destination.COOPERATIVE, Destination.CONSUMER)
    told: ToldClients = field(default_factory=ToldClients)
    configs: tuple[ClientConfig, ...] = ()
    regexes: tuple[str, ...] = ()
    concurrency: int = 1
    bounce_s: float = DEFAULT_BOUNCE_S
    with_costs: bool = True
    """Whether it is computed what a migration costs and gains; without, nothing is ranked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedGroup:
    """A group that may migrate, in the order in which they should."""

    rank: int
    source: str
    cluster: str | None
    group: str
    verdict: str
    members: int
    partitions: int
    gain_s: float
    risk: float
    path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRun:
    """What an audit found. Mappings are by destination (`cooperative`, `consumer`)."""

    audit: DataFrame
    """In the schema AUDIT; read from `out` where there is one, else kept by Spark until the session ends."""
    regexes: DataFrame
    """In the schema AUDIT_REGEXES."""
    groups: int
    verdicts: Mapping[str, Mapping[str, int]]
    """Groups by verdict (`ready`, `warnings`, `blocked`); those that have arrived count as `arrived` alone."""
    blocked_by: Mapping[str, Mapping[str, int]]
    """Groups by the rule that blocks them, the most frequent first; a group counts with each of its rules."""
    first: Mapping[str, tuple[RankedGroup, ...]]
    """The first `FIRST_SHOWN` to migrate."""
    regexes_lost: int
    """Regexes of a group that the broker refuses, is harmed by, or matches less by than the client does."""
    quarantined: tuple[Quarantined, ...]
    """The first `pipeline.history.QUARANTINE_SHOWN`."""
    quarantined_total: int
    paths: Mapping[str, str]
    """Where the tables are, by name; empty without `out`."""


def audit(
    spark: SparkSession,
    sources: Sequence[Snapshots | Logs],
    settings: AuditSettings | None = None,
    *,
    out: str | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> AuditRun:
    """Judge every group of every source.

    `out` is a directory for the tables (`out/audit`, `out/audit_regexes`, `out/quarantine`), which a second audit
    replaces. `progress` is told of tasks done and all tasks, from another thread.

    :raises FileNotFoundError: a path is not there
    """
    raise NotImplementedError
