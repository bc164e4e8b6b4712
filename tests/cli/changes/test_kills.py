"""SIGKILL at a random moment of a changing command: no change without an entry in the journal."""

import os
import random
import time
from contextlib import suppress
from pathlib import Path

from cli.journal.entry import ItemOutcome, paired
from cli.journal.reader import read_journal
from tests.cli.changes.scene import CHANGES, Change, Scene
from tests.cli.command import Kohort, words
from tests.support.forked import Process
from tests.support.long import cases

SEED = int(os.environ.get("KOHORT_KILL_SEED", "43"))
NAMES = sorted(name for name, change in CHANGES.items() if change.program == "kohort" and name != "fault")
BETWEEN_S = 0.03
"""About the time from the first half of an entry to the second one."""


def test_a_killed_change_has_an_entry(scene: Scene, kohort: Kohort, tmp_path: Path) -> None:
    draw, kinds = random.Random(SEED), set[tuple[str, bool]]()
    rounds = cases("KOHORT_CHANGE_KILLS", 4, many=100)
    run(scene, kohort, CHANGES["reset"], tmp_path / "first", None, between=False)  # what is slow only once
    lasted_s = run(scene, kohort, CHANGES["reset"], tmp_path / "second", None, between=False)
    for number in range(rounds):
        change, directory = CHANGES[NAMES[number % len(NAMES)]], tmp_path / str(number)
        between = number % 3 != 0
        delay_s = draw.uniform(0, BETWEEN_S if between else lasted_s)
        run(scene, kohort, change, directory, delay_s, between=between)
        entries, problems = read_journal(directory)
        made = any(effect(scene) for effect in change.effects.values())
        assert problems == []
        assert entries or not made, (number, SEED)
        kinds |= {("no entry", made)} if not entries else set()
        for entry, end in entries:
            assert {item.group for item in entry.items} <= {scene.group, f"{scene.group}-copy"}
            results = {result.result for _, result in paired(entry, end)}
            assert results == ({ItemOutcome.UNKNOWN} if end is None else {ItemOutcome.DONE}), (number, SEED)
            assert made or end is None, (number, SEED)
            kinds.add(("half" if end is None else "whole", made))
    if rounds >= 100:
        print(f"{rounds} kills, seed {SEED}: {sorted(kinds)}")
        assert {"no entry", "half", "whole"} == {kind for kind, _ in kinds}


def run(
    scene: Scene, kohort: Kohort, change: Change, directory: Path, delay_s: float | None, *, between: bool
) -> float:
    """Run a change, and kill it after a time, or that time after its entry began; how long it lasted."""
    directory.mkdir()
    scene.fresh()
    change.prepare(scene)
    command = [kohort.executable, *words(*change.command(scene, 30)), "--journal", directory]
    with (directory / "printed").open("wb") as printed:
        began_s = time.monotonic()
        process = Process(command, env=kohort.env, stdout=printed, stderr=printed)
        if delay_s is not None:
            while between and process.poll() is None and not has_begun(directory):
                time.sleep(0.0005)
            time.sleep(delay_s)
            with suppress(ProcessLookupError):  # it ends just now
                process.kill()
        process.wait(30)
    return time.monotonic() - began_s


def has_begun(directory: Path) -> bool:
    return any(file.stat().st_size for file in directory.glob("*.jsonl"))
