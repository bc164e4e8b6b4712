"""What compaction leaves of real groups' logs proves less, and nothing false."""

from pathlib import Path
from random import Random

import pytest

from cli.sources.history.logs import read_log_history
from coordinator.store.cleaner import CompactionSettings, compact
from groups.history.course import Course
from tests.incidents.record import Played, recording
from tests.incidents.stories import read_runs
from tests.incidents.truth import UNKNOWN
from tests.support.long import cases
from wire.log.segments import base_offset_of, list_segments, read_segment, segment_name

CUTS = cases("KOHORT_COMPACTED_CUTS", 1, many=20)


@pytest.mark.parametrize("run", read_runs())
def test_compaction_makes_causes_unknown_but_never_wrong(run: str) -> None:
    for cut in range(CUTS):
        with recording(run) as (data, played):
            for directory in sorted(data.glob("__consumer_offsets-*")):
                compact_to_a_cut(directory, Random(f"{directory.name} {cut}"))
            history = read_log_history([data], [one.group for one in played], since_ms=0)
            false = {
                one.group: departures_of(history.courses[one.group], one) - possible_departures(one)
                for one in played
            }
            assert {group: claims for group, claims in false.items() if claims} == {}


def compact_to_a_cut(directory: Path, draw: Random) -> None:
    """Compact a log up to any of its batches."""
    path = next(iter(list_segments(directory)), None)
    segment = None if path is None else read_segment(path)
    if path is None or segment is None or len(segment.batches) < 2:
        return
    cut = draw.randrange(1, len(segment.batches))
    position, offset = int(segment.batches.positions[cut]), segment.batches[cut].base_offset
    for file in directory.glob(f"{path.stem}.*"):
        file.unlink()
    (directory / segment_name(base_offset_of(path))).write_bytes(segment.data[:position])
    (directory / segment_name(offset)).write_bytes(segment.data[position : segment.batches.end])
    compact(directory, CompactionSettings(), first_dirty=0, active=offset, now_ms=1 << 42)


def departures_of(course: Course, played: Played) -> set[tuple[str, str | None]]:
    """The causes of departures that the history is sure of, until the end of the story, with the client id."""
    end_us = played.began_us + int(played.incident.scenario.until_s * 1e6)
    return {
        (verdict.cause.value, course.members[verdict.member].client_id)
        for rebalance in course.rebalances
        if (rebalance.end or rebalance.start or 0) <= end_us
        for verdict in rebalance.verdicts
        if verdict.cause.value != UNKNOWN and verdict.member in course.members
    }


def possible_departures(played: Played) -> set[tuple[str, str | None]]:
    return {claim for caused in played.incident.truth for claim in caused.possible}
