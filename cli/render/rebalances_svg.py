"""The rebalances of one group as a drawing along the time, to stand in a page or as a file of its own."""

from __future__ import annotations

from pipeline.report.numbers import GroupTimeline


def timeline_svg(timeline: GroupTimeline) -> str:
    """A file of its own: an SVG document with the styles of a page, light and dark."""
    raise NotImplementedError
