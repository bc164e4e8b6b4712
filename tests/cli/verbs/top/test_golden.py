"""Golden screens, by Textual's own export: the most important ones at three sizes in two themes (two of them in
`make test`), all others at 80 columns. Look at those that you write again: KOHORT_WRITE_GOLDEN=1, and a browser."""

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from textual.widgets import Input

from cli.options import SourceOptions
from cli.verbs.top.options import TopOptions
from cli.verbs.top.theme import DARK, LIGHT
from kohort_testing import KohortBroker
from tests.cli.verbs.top.driving import AT_MS, LARGE, MIDDLE, SMALL, Driven, drive, saved
from tests.cli.verbs.top.scene import READINGS, photograph, play, reading, record, staged
from tests.support.golden import GOLDEN
from tests.support.long import IS_LONG

DIRECTORY = GOLDEN / "top"
THEMES = {"dark": DARK, "light": LIGHT}
EVERYWHERE = tuple(product((SMALL, MIDDLE, LARGE), THEMES))
QUICK = ((SMALL, "dark"), (LARGE, "light"))
IS_WRITTEN = bool(os.environ.get("KOHORT_WRITE_GOLDEN"))
IS_ALL = IS_LONG or IS_WRITTEN


class Album:
    """Compares pictures with those of the directory, and names all that differ at the end."""

    def __init__(self) -> None:
        self.differing: list[str] = []
        self.names: dict[str, str] = {}  # What is shown instead of names that vary

    async def add(self, top: Driven, name: str, *, everywhere: bool = False) -> None:
        size = top.app.size
        for (width, height), theme in (EVERYWHERE if IS_ALL else QUICK) if everywhere else QUICK[:1]:
            self._compare(
                f"{name}-{width}x{height}-{theme}.svg",
                await photograph(top, (width, height), THEMES[theme]),
            )
        await top.pilot.resize_terminal(*size)

    def _compare(self, name: str, svg: str) -> None:
        file = DIRECTORY / name
        for varying, shown in self.names.items():
            svg = svg.replace(varying, shown)
        if IS_WRITTEN:
            DIRECTORY.mkdir(exist_ok=True)
            file.write_text(svg, encoding="utf-8")
        if not file.exists() or file.read_text(encoding="utf-8") != svg:
            self.differing.append(name)


@pytest.fixture
def album(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Album]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))  # Other tests add contexts
    monkeypatch.setattr(Input, "cursor_blink", False)
    with staged():
        yield Album()


def fleet() -> SourceOptions:
    snapshot = reading(0)
    return saved(Path(), snapshot.pop("groups"), **snapshot)


def test_the_list_and_what_opens_from_it(album: Album) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        await play(top, Path(), 1, READINGS)
        while top.app.group != "fraud":
            await top.press("down")
        await album.add(top, "groups", everywhere=True)
        await top.press("question_mark")
        await album.add(top, "keys")
        await top.press("escape", "slash", *"state:empty")
        await album.add(top, "filter")
        await top.press("escape", "T")
        await album.add(top, "topics")
        await top.press("enter")
        await album.add(top, "topic")
        await top.press("escape", "escape", "C")
        await album.add(top, "cluster")
        await top.press("escape", "X")
        await album.add(top, "contexts")
        await top.press("escape", "colon", *"de")
        await album.add(top, "command")
        await top.press("escape", "t")
        await album.add(top, "time")
        await top.press("escape", "escape", "slash", *"billing", "enter", "P")
        await top.wait_for("exit status 1")
        await album.add(top, "plan")

    drive(course, fleet(), at_ms=AT_MS)
    assert " ".join(album.differing) == ""


def test_a_group_in_a_rebalance(album: Album) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        await top.press("slash", *"fraud", "enter", "enter")
        await top.wait_for(lambda: top.app.sight.groups["fraud"].samples, "its first reading")
        await play(top, Path(), 1, READINGS)
        await album.add(top, "group", everywhere=True)
        for key, name in {"b": "by-topic", "o": "partitions", "f": "findings", "v": "owners"}.items():
            await top.press(key)
            await album.add(top, f"group-{name}")
        await top.press("f", "enter")
        await album.add(top, "finding")
        await top.press("escape", "m", "enter")
        await album.add(top, "member")
        await top.press("enter")
        await album.add(top, "partition")

    drive(course, fleet(), at_ms=AT_MS)
    assert " ".join(album.differing) == ""


def test_the_past(album: Album) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        await top.press("left_square_bracket", "left_square_bracket")
        await top.wait_for(lambda: "THE PAST: 2026-03-01T03:07:16.000Z" in top.text, "the rebalance")
        await album.add(top, "past", everywhere=True)
        while top.app.group != "fraud":
            await top.press("down")
        await top.press("enter")
        await top.wait_for("target assignment of epoch 8")
        await album.add(top, "past-group", everywhere=True)

    drive(
        course, SourceOptions(), TopOptions(every=3600.0, replay=record(Path("incident.ndjson"))), at_ms=AT_MS
    )
    assert " ".join(album.differing) == ""


def test_a_change(album: Album) -> None:
    group = "nightly-report"

    async def course(top: Driven) -> None:
        await top.read()
        await top.press("colon", *"offsets reset --all-topics --shift-by=-100", "enter")
        await top.wait_for("about to set 6 offsets")
        await album.add(top, "change", everywhere=True)
        await top.press("x")
        await album.add(top, "consent")

    with KohortBroker(topics={"payments": 6}) as broker:
        for partition in range(6):
            broker.produce("payments", *["record"] * 150, partition=partition)
        places = [TopicPartition("payments", partition, 120 + partition) for partition in range(6)]
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        for future in admin.alter_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, places)]
        ).values():
            future.result()
        album.names = {broker.bootstrap_servers: "127.0.0.1:19092"}
        drive(course, SourceOptions(bootstrap_server=broker.bootstrap_servers), at_ms=AT_MS)
    assert " ".join(album.differing) == ""
