"""`kohort top` without a terminal: keys are pressed, and the text of its screen is read."""

import asyncio
import io
import json
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from textual.pilot import Pilot

from cli.options import SourceOptions
from cli.sources.contexts.resolve import resolve_source
from cli.verbs.top.app import TopApp
from cli.verbs.top.options import TopOptions

T = TypeVar("T")
PATIENCE, TURN_S = 1_500, 0.02
"""How many turns of its loop an application has, and a turn: a busy machine, and a client of another test that freezes
this process while it ends, lengthen a turn."""
SMALL, MIDDLE, LARGE = (80, 24), (120, 40), (200, 60)
AT_MS = 1_772_334_420_000  # 2026-03-01T03:07:00Z
ONCE = TopOptions(every=3600.0)
"""Each group is read once, and again with `r`."""


class DrivenApp(TopApp):
    """Its clock stands still if `at_ms` is not None."""

    def __init__(self, source: SourceOptions, options: TopOptions, at_ms: int | None) -> None:
        self.at_ms = at_ms
        super().__init__(source, options)

    def now_ms(self) -> int:
        return super().now_ms() if self.at_ms is None else self.at_ms


class Driven:
    """A running one."""

    def __init__(self, app: DrivenApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def lines(self) -> list[str]:
        """The text of the screen, as on a terminal."""
        width, height = self.app.size
        console = Console(
            width=width,
            height=height,
            file=io.StringIO(),
            force_terminal=True,
            record=True,
            legacy_windows=False,
        )
        console.print(self.app.screen._compositor.render_update(full=True))
        return [line.rstrip() for line in console.export_text().splitlines()]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def line_of(self, text: str) -> str:
        """The first line with this text; StopIteration if it is nowhere on screen."""
        return next(line for line in self.lines if text in line)

    @property
    def screen(self) -> str:
        """The class of the screen on top."""
        return type(self.app.screen).__name__

    async def press(self, *keys: str) -> "Driven":
        """Press keys by Textual's names (`escape`, `left_square_bracket`), and wait until they had their effect."""
        await self.pilot.press(*keys)
        return self

    async def type(self, text: str) -> "Driven":
        """Type a text, character by character."""
        await self.pilot.press(*text)
        return self

    async def wait_for(self, check: str | Callable[[], object], what: str = "") -> "Driven":
        """Until something is true, or a text is on screen. AssertionError after half a minute or more."""
        holds = check if callable(check) else lambda: check in self.text
        for _ in range(PATIENCE):
            if self.app.is_drawn and holds():
                return self
            if self.app.failure is not None:
                raise self.app.failure
            assert self.app.is_running, f"it has ended: {self.app.return_code}"
            await asyncio.sleep(TURN_S)
            await self.pilot.pause()
        raise AssertionError(f"{what or check}: not within {PATIENCE} turns\n{self.text}")

    async def read(self) -> "Driven":
        """Until each group that it lists has been read."""
        return await self.wait_for(
            lambda: self.app.sight.at_ms and len(self.app.sight.groups) >= len(self.app.sight.listings),
            "all groups are read",
        )

    async def later(self, by_ms: int) -> "Driven":
        """Another reading of the groups that it has read, by a clock that is so much later, and stands still then."""
        self.app.at_ms = self.app.now_ms() + by_ms
        self.app.poller.refresh()
        return await self.wait_for(
            lambda: all(seen.at_ms == self.app.at_ms for seen in self.app.sight.groups.values()),
            "another reading",
        )


def drive(
    course: Callable[[Driven], Coroutine[Any, Any, T]],
    source: SourceOptions,
    options: TopOptions = ONCE,
    *,
    size: tuple[int, int] = SMALL,
    at_ms: int | None = None,
) -> T:
    """Open it on a source, and run a course of keys and checks on it. With `at_ms` it is always that time."""

    async def run() -> T:
        app = DrivenApp(source if source.clusters else resolve_source(source), options, at_ms)
        async with app.run_test(size=size, notifications=True) as pilot:
            driven = Driven(app, pilot)
            await driven.wait_for(lambda: app.sight.at_ms or app.sight.failure, "the first list")
            return await course(driven)

    return asyncio.run(run())


def saved(directory: Path, groups: Mapping[str, object], **more: object) -> SourceOptions:
    """A snapshot of these groups; `more` are other parts of it, such as `topics`."""
    file = directory / "groups.json"
    replaced = directory / "groups.json.new"
    replaced.write_text(json.dumps({"kohort": 1, **more, "groups": groups}))
    replaced.replace(file)
    return SourceOptions(snapshot=file)


def many_groups(count: int, partitions: int = 4) -> tuple[dict[str, object], dict[str, object]]:
    """Groups of several types and states, and the topics that they read, for `saved`."""
    topics: dict[str, object] = {
        f"topic-{number}": {
            "partitions": partitions,
            "end_offsets": dict.fromkeys(map(str, range(partitions)), 1000),
        }
        for number in range(20)
    }
    groups: dict[str, object] = {}
    for number in range(count):
        topic = f"topic-{number % 20}"
        groups[f"group-{number:04}"] = {
            "type": ("consumer", "classic")[number % 2],
            "state": ("Stable", "Stable", "Stable", "Empty")[number % 4],
            "offsets": {
                topic: {str(one): {"offset": (number * 7 + one) % 1000} for one in range(partitions)}
            },
        }
    return groups, topics
