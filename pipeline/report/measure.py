"""The numbers of a report from the tables of a run: aggregates of a few hundred rows, however large the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pipeline.report.numbers import GroupTimeline, ReportNumbers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def numbers_of(
    tables: Mapping[str, DataFrame], *, made: datetime, sources: Sequence[str] = ()
) -> ReportNumbers:
    """All numbers of a run; `tables` by the names of TABLES and `audit`, of which any may be missing."""
    raise NotImplementedError


def timeline_of(rebalances: DataFrame, group: str) -> GroupTimeline:
    """A group's rebalances in order; stretches of them where there are more than a drawing tells apart."""
    raise NotImplementedError
