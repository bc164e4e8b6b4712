"""What the golden screens and the pictures of the docs show: the sample fleet over 40 seconds at 03:07, read every
four seconds, with a clock that stands still in between. `checkout` falls behind, and a third member joins `fraud`,
where another one does not give up its partition."""

import json
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from cli.options import SourceOptions
from cli.selection import ReusableSource
from cli.sources.saved import SavedSource
from cli.sources.source import FoundRecords, Source
from cli.verbs.watch.recording import Header, header_document, line_of, observation_document
from cli.verbs.watch.state import WatchObservation
from groups.lag import NextRecord
from groups.snapshot import Snapshot, read_snapshot
from tests.cli.verbs.top.driving import AT_MS, Driven, saved

EVERY_MS = 4_000
READINGS = 10
NAME = "kafka-1.example:9092"
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"
JOINED = 4  # The reading at which the third member of `fraud` is seen
REVOKED = 12  # At which the partition is its own, in a recording
SLOW = "checkout"
GONE = "nightly-report"
STUCK = ("fraud", "payments", "5")
PER_SECOND = 5  # Records, of each partition


def _sample() -> dict[str, Any]:
    fleet: dict[str, Any] = yaml.safe_load(files("cli.verbs.demo").joinpath("sample.yaml").read_text())
    return fleet


@contextmanager
def staged() -> Iterator[None]:
    """Snapshots are read as a cluster is: at each reading, and records have times."""
    with (
        patch("cli.verbs.top.looking.ReusableSource", Stage),
        patch.object(SavedSource, "next_records", _next_records),
    ):
        yield


class Stage(ReusableSource):
    def __init__(self, options: SourceOptions, report: Callable[[str], None]) -> None:
        super().__init__(options, report)
        self.is_live, self.name = True, NAME

    def get(self) -> Source:
        self.close()
        source = super().get()
        source.name = self.name
        return source


def _next_records(_source: SavedSource, offsets: Mapping[tuple[str, int], Collection[int]]) -> FoundRecords:
    topics = _sample()["topics"]
    records = {}
    for topic, partition in offsets:
        end = topics[topic]["end_offsets"][partition]
        records[topic, partition] = {
            offset: NextRecord(offset, AT_MS + (offset - end) * 1000 // PER_SECOND)
            for offset in offsets[topic, partition]
        }
    return FoundRecords(records=records)


def reading(number: int) -> dict[str, Any]:
    """The snapshot that a reading finds."""
    fleet = _sample()
    written = number * EVERY_MS // 1000 * PER_SECOND
    for topic in fleet["topics"].values():
        ends = topic.get("end_offsets", {})
        topic["end_offsets"] = {partition: end + written for partition, end in ends.items()}
    for name, group in fleet["groups"].items():
        for topic, partitions in group["offsets"].items():
            for partition, committed in partitions.items():
                committed["offset"] += _read(written, number, (name, topic, str(partition)))
    if number < JOINED:
        fleet["groups"]["fraud"] = _before_it_joined(fleet["groups"]["fraud"])
    if number >= REVOKED:
        fleet["groups"]["fraud"] = _after_it_revoked(fleet["groups"]["fraud"])
    return fleet


def _read(written: int, number: int, partition: tuple[str, str, str]) -> int:
    if partition[0] == GONE:
        return 0
    if partition == STUCK:
        return min(written, JOINED * EVERY_MS // 1000 * PER_SECOND)
    return written // 4 if partition[0] == SLOW else written - number % 3


def _before_it_joined(group: dict[str, Any]) -> dict[str, Any]:
    before = deepcopy(group)
    before |= {"state": "Stable", "group_epoch": 7, "assignment_epoch": 7, "members": before["members"][:2]}
    for member in before["members"]:
        member |= {"epoch": 7, "target": member["owned"]}
    return before


def _after_it_revoked(group: dict[str, Any]) -> dict[str, Any]:
    after = {**deepcopy(group), "state": "Stable"}
    for member in after["members"]:
        member |= {"epoch": 8, "owned": member["target"]}
    return after


async def play(top: Driven, directory: Path, first: int, last: int) -> None:
    """Let these readings happen."""
    for number in range(first, last + 1):
        fleet = reading(number)
        saved(directory, fleet.pop("groups"), **fleet)
        top.app.at_ms = AT_MS + number * EVERY_MS
        await top.press("r")
        await top.wait_for(lambda: _is_read(top), f"reading {number}")


def _is_read(top: Driven) -> bool:
    sight, opened = top.app.sight, top.app.poller._focus.opened
    names = sight.listings if opened is None else (opened,)
    return all(name in sight.groups and sight.groups[name].at_ms == top.app.at_ms for name in names)


async def photograph(top: Driven, size: tuple[int, int], theme: str) -> str:
    """The screen as SVG, by Textual's own export; without fonts from elsewhere, which a picture should not need."""
    top.app.theme = theme
    top.app.clear_notifications()
    await top.pilot.resize_terminal(*size)
    await top.pilot.pause()
    svg = top.app.export_screenshot()
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code, monospace", FONTS)
    return re.sub(r"terminal-\d+", "terminal", re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE))


def record(file: Path) -> Path:
    """A recording of `kohort watch` of all readings."""
    snapshots = [_snapshot(number) for number in range(REVOKED + 2)]
    header = Header(at_ms=AT_MS, groups=tuple(snapshots[0].groups), source=NAME, every_ms=EVERY_MS)
    documents = [header_document(header)]
    for number, snapshot in enumerate(snapshots):
        at_ms = AT_MS + number * EVERY_MS
        observation = WatchObservation(
            asked_ms=at_ms, at_ms=at_ms, groups=snapshot.groups, topics=snapshot.topics
        )
        documents.append(observation_document(observation))
    file.write_text("".join(map(line_of, documents)))
    return file


def _snapshot(number: int) -> Snapshot:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "groups.json"
        file.write_text(json.dumps(reading(number)))
        return read_snapshot(file)
