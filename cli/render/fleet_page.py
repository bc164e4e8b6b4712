"""A report on a fleet as one page of HTML that needs nothing else: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from pipeline.report.numbers import ReportNumbers


def history_page(numbers: ReportNumbers) -> str:
    """The whole page; parts that the run has no numbers for are left out."""
    raise NotImplementedError
