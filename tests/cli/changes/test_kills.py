"""SIGKILL at a random moment of a changing command: no change without an entry, and a way back from every entry."""

import os
import random
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.journal.entry import EntryEnd, ItemKind, ItemOutcome, JournalEntry, paired
from cli.journal.reader import read_journal
from cli.journal.reversible import NEVER
from cli.sources.wire_source import WireSource
from tests.cli.changes.cluster_state import State, covers, differing, restorable, state_of, value_of
from tests.cli.changes.killed import KILLED
from tests.cli.changes.scene import Change, Scene
from tests.cli.command import Kohort, words
from tests.cli.sources.live_source import live_source
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.support.forked import Process
from tests.support.long import cases

SEED = int(os.environ.get("KOHORT_KILL_SEED", "43"))
BETWEEN_S = 0.012
"""About the time from the first half of an entry to the second one."""
VALUED = (ItemKind.OFFSET, ItemKind.SETTING, ItemKind.FEATURE)
"""The kinds of items whose values a cluster has; the others exist or not."""


@dataclass(kw_only=True)
class Round:
    """A change that is prepared, begun, killed, and undone."""

    scene: Scene
    source: WireSource
    kohort: Kohort
    change: Change
    journal: Path
    earlier: int = 0
    """Entries of what was prepared."""

    def prepare(self) -> State:
        self.scene.fresh()
        self.change.prepare(self.scene)
        self.earlier = len(read_journal(self.journal)[0])
        return self.state()

    def state(self) -> State:
        """What the cluster has, once its brokers show all that was changed before."""
        create_topics(self.scene.broker, {fresh_name("last"): 1})
        return state_of(self.source, self.scene.group, configured=[self.scene.group])

    def run(self, delay_s: float | None, *, between: bool = False) -> float:
        """Run the change, and kill it after a time, or that time after its entry began; how long it lasted."""
        program = Path(self.kohort.executable).with_name(self.change.program)
        line = (
            *self.change.line(self.scene),
            "--bootstrap-server",
            self.scene.bootstrap,
            *self.change.confirmation,
        )
        size, env = self.size(), {**self.kohort.env, "KOHORT_JOURNAL": str(self.journal)}
        with (self.journal.parent / "printed").open("wb") as printed:
            began_s = time.monotonic()
            process = Process([program, *words(*line)], env=env, stdout=printed, stderr=printed)
            if delay_s is not None:
                while between and process.poll() is None and self.size() == size:
                    time.sleep(0.0005)
                time.sleep(delay_s)
                with suppress(ProcessLookupError):  # it ends just now
                    process.kill()
            process.wait(30)
        return time.monotonic() - began_s

    def size(self) -> int:
        return sum(file.stat().st_size for file in self.journal.glob("*.jsonl"))

    def judge(self, before: State) -> str:
        """Check that the journal has what was changed, and undo it; whether it has an entry, and any."""
        now = self.state()
        all_entries, problems = read_journal(self.journal)
        entries = all_entries[self.earlier :]
        assert problems == []
        items = [item for entry, _ in entries for item in entry.items]
        assert [key for key in differing(before, now) if not covers(items, key)] == []
        for entry, end in entries:
            results = {result.result for _, result in paired(entry, end)}
            assert results == ({ItemOutcome.UNKNOWN} if end is None else {ItemOutcome.DONE}), entry
            for item in entry.items:
                if item.kind in VALUED:
                    assert value_of(before, item) == item.before, item
                    assert value_of(now, item) in (
                        {item.before, item.after} if end is None else {item.after}
                    ), item
        for entry, end in reversed(entries):
            self.undo(entry, end)
        expected = restorable(before, items)
        wait_until(
            lambda: restorable(self.state(), items) == expected,
            lambda: f"as before: {differing(restorable(self.state(), items), expected)}",
        )
        kind = "no entry" if not entries else "half" if entries[-1][1] is None else "whole"
        return f"{kind}, changed" if differing(before, now) else kind

    def undo(self, entry: JournalEntry, end: EntryEnd | None) -> None:
        """Undo an entry: each item is restored, or is as before, or cannot be restored, for a reason."""
        answer = self.kohort.quick(
            f"undo {entry.id} --execute --yes --output json", "-b", self.scene.bootstrap
        )
        never = any(item.kind in NEVER for item in entry.items)
        answer.assert_said(4 if never else 0)
        verdicts = {change["verdict"] for change in answer.document["changes"]}
        assert len(answer.document["changes"]) == len(paired(entry, end))
        assert verdicts <= ({"refused"} if never else {"restore", "as_before"}), answer
        assert end is None or never or "as_before" not in verdicts, answer
        assert not never or all(change["remark"] for change in answer.document["changes"]), answer


def test_a_killed_change_has_an_entry_and_is_undone(
    request: pytest.FixtureRequest,
    scene: Scene,
    kohort: Kohort,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw, kinds = random.Random(SEED), set[tuple[str, str]]()
    is_kafka, rounds = request.node.name.endswith("[Kafka]"), cases("KOHORT_CHANGE_KILLS", 5, many=120)
    names = [name for name, change in KILLED.items() if is_kafka or not change.needs_kafka]
    names = [name for name in names if rounds > len(names) or KILLED[name].lasts_s is None]
    draw.shuffle(names)
    lasted_s = 0.0
    with live_source(scene.broker) as source:
        for number in range(-2, rounds):  # the first two are not killed: they are slower
            name = names[number % len(names)] if number >= 0 else "reset"
            monkeypatch.setenv("KOHORT_JOURNAL", str(tmp_path / str(number) / "journal"))
            (journal := tmp_path / str(number) / "journal").mkdir(parents=True)
            one = Round(scene=scene, source=source, kohort=kohort, change=KILLED[name], journal=journal)
            between = one.change.lasts_s is None and draw.random() < 0.7
            delay_s = draw.uniform(0, BETWEEN_S if between else one.change.lasts_s or lasted_s)
            with scene.ends:
                before = one.prepare()
                ran_s = one.run(delay_s if number >= 0 else None, between=between)
                lasted_s = lasted_s if number >= 0 else ran_s
                try:
                    kinds.add((name, one.judge(before)))
                except BaseException as error:
                    error.add_note(f"{name}, round {number}, {delay_s:.3f} s, seed {SEED}")
                    raise
    if rounds > len(names):
        print(f"{rounds} kills, seed {SEED}: {sorted(kinds)}")
        assert {"no entry", "half", "half, changed", "whole, changed"} == {kind for _, kind in kinds}
