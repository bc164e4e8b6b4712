"""A change is made or not, and its status and words say which, whatever happens around it."""

import gc
import os
import pty
import signal
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from cli.journal.entry import EntryStatus, ItemOutcome
from cli.journal.reader import read_journal
from tests.cli.changes.playing import FULL, Played, Stream, interrupt, play
from tests.cli.changes.scene import CHANGES, Change, Scene
from tests.cli.command import Kohort, words
from tests.kafka.members import fresh_name
from tests.kafka.turnstile import Decide, Move
from tests.support.long import IS_LONG, LONG
from tests.support.terminals import Shown, on_terminal, read_to_end, resize
from wire.client.features import SAFE_DOWNGRADE, update_features
from wire.messages.schemas.classic_groups import LEAVE_GROUP
from wire.messages.schemas.cluster import INCREMENTAL_ALTER_CONFIGS, UPDATE_FEATURES
from wire.messages.schemas.groups import DELETE_GROUPS
from wire.messages.schemas.offsets import OFFSET_COMMIT, OFFSET_DELETE, OFFSET_FETCH

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CHANGING = {
    api.key for api in (OFFSET_COMMIT, OFFSET_DELETE, DELETE_GROUPS, LEAVE_GROUP, INCREMENTAL_ALTER_CONFIGS)
}
UNKNOWN = "The change may have been made: "


def passed(_number: int, _key: int) -> Move:
    """All requests pass."""
    return Move.PASS


def made(
    scene: Scene,
    change: Change,
    *options: str,
    decide: Decide = passed,
    timeout_s: int = 60,
    stdout: Stream | None = None,
    stderr: Stream | None = None,
) -> Played:
    """Prepare a group, play the command, and check its status and words against the cluster."""
    scene.turnstile.begin(passed)
    scene.fresh()
    change.prepare(scene)
    scene.turnstile.begin(decide)
    line = (*change.command(scene, timeout_s), *options)
    ended = play(*line, stdout=stdout, stderr=stderr, program=change.program)
    gc.collect()  # an AdminClient that is kept would continue to send requests
    scene.requests = tuple(scene.turnstile.keys)
    scene.turnstile.begin(passed)
    check(scene, change, ended)
    return ended


def check(scene: Scene, change: Change, ended: Played) -> None:
    """Never 0 without the change, never the change without a word, never a word without the change."""
    effects = {claim.format(group=scene.group): is_made(scene) for claim, is_made in change.effects.items()}
    everything = f"{ended}\n{effects}"
    assert "Traceback" not in ended.stderr, everything
    assert "internal error" not in ended.stderr, everything
    assert ended.status or all(effects.values()), everything
    for claim, is_made in effects.items():
        said = ended.stdout + ended.stderr
        assert is_made or f"{claim}\n" not in said, everything
        assert not is_made or not ended.status or claim in said or UNKNOWN in said, everything


ALIKE = ("shift", "import", "clone", "delete offsets")
"""Changes that send the requests of others."""
DIFFERENT = [pytest.param(name, marks=LONG if name in ALIKE else ()) for name in CHANGES]


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_does_not_depend_on_its_readers(scene: Scene, name: str) -> None:
    change = CHANGES[name]
    is_ours = change.program == "kohort"
    outputs = [("--output", "table"), ("--output", "json")] if change.confirmation else [()]
    for options in outputs:
        writes = made(scene, change, *options).writes
        for number in range(writes[0] if is_ours else 1):
            stream = Stream(closing_at=number)
            if not is_ours:  # it writes past Python's stream
                stream.raw_end.leave()
            closed = made(scene, change, *options, stdout=stream)
            assert closed.status == 0, closed
            for claim in change.effects:
                assert claim.format(group=scene.group) in closed.stderr, closed
        for number in range(writes[1]):
            closed = made(scene, change, *options, stderr=Stream(closing_at=number, lines=True))
            assert closed.status == 0, closed
        assert made(scene, change, *options, stderr=Stream(device=FULL, lines=True)).status == 0
        full = made(scene, change, *options, stdout=Stream(device=FULL))
        assert full.status == 3, full
        assert ("nothing was changed" in full.stderr) == ("table" in options)


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_broker_that_stalls_or_dies_at_any_request_is_reported(scene: Scene, name: str) -> None:
    change = CHANGES[name]
    made(scene, change)
    moves = (Move.MUTE, Move.DIE, Move.STALL, Move.DIE_AFTER)
    for number in range(len(scene.requests)):
        for move in moves if IS_LONG else [moves[number % len(moves)]]:
            made(scene, change, decide=only(number, move), timeout_s=1)


def only(number: int, move: Move, sent: signal.Signals | None = None) -> Decide:
    """A move of the request with a number, after a signal if there is one; the others pass."""

    def decide(at: int, _: int) -> Move:
        if at != number:
            return Move.PASS
        if sent is not None:
            interrupt(sent)
        return move

    return decide


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_signal_at_any_request_ends_a_change_with_its_status_and_words(scene: Scene, name: str) -> None:
    change = CHANGES[name]
    made(scene, change)
    moves = (Move.PASS, Move.STALL, Move.MUTE)
    for number in range(len(scene.requests)):
        chosen = [(SIGNALS[number % 3], moves[number // 3 % 3])]
        for signal_number, move in product(SIGNALS, moves) if IS_LONG else chosen:
            ended = made(scene, change, decide=only(number, move, signal_number))
            assert ended.status == 128 + signal_number, ended
            assert signal_number.name in ended.stderr, ended
            assert not CHANGING.intersection(scene.requests[number + 1 :]), ended


OFFSETS = ("reset", "shift", "import", "delete offsets", "delete", "apply")


@pytest.mark.parametrize("name", OFFSETS)
def test_a_commit_since_the_preview_is_reported(scene: Scene, kohort: Kohort, name: str) -> None:
    change = CHANGES[name]
    made(scene, change)
    expected = scene.committed()
    text = f"{scene.topic}-0: was 3 at the preview, is 5"
    seen = []

    def commit(_: int, key: int) -> Move:
        seen.append(key)
        if key == OFFSET_FETCH.key and seen.count(key) == 2:
            scene.commit(5)
        return Move.PASS

    ended = made(scene, change, decide=commit)
    assert (ended.status, scene.committed()) == (0, expected), ended
    assert f"{scene.group}, {text}; this change replaces it" in ended.stderr, ended
    if name not in ("reset", "apply") and not IS_LONG:
        return
    scene.fresh()
    shown = asked(scene, kohort, change, lambda: scene.commit(5))
    assert (shown.status, scene.committed()) == (4, 5), shown
    assert f"{text}: another program has changed it; run the command again" in shown.terminal, shown
    assert "kohort: nothing was changed\n" in shown.terminal, shown


def asked(scene: Scene, kohort: Kohort, change: Change, meanwhile: Callable[[], object]) -> Shown:
    """The command on a terminal, with its output in a pipe; its question is answered with yes."""
    line = [os.fsdecode(word) for word in words(*change.line(scene))]
    return on_terminal(
        [kohort.executable, *line, "--execute", "-b", scene.bootstrap],
        kohort.env,
        answers=["yes\n"],
        meanwhile=meanwhile,
        stdout=subprocess.PIPE,
    )


@pytest.mark.parametrize("at", ["preview", "consent", "commit"])
def test_offsets_of_a_topic_that_was_created_again_are_refused(scene: Scene, at: str) -> None:
    seen = []
    topic = fresh_name("replaced")
    scene.replace_topic(topic)
    replaced: list[str] = []

    def replace(_: int, key: int) -> Move:
        seen.append(key)
        is_now = seen.count(OFFSET_FETCH.key) == 2 if at == "consent" else key == OFFSET_COMMIT.key
        if is_now and topic not in replaced:
            replaced.append(topic)
            scene.replace_topic(topic)
        return Move.PASS

    scene.turnstile.begin(passed)
    scene.fresh()
    if at == "preview":
        scene.replace_topic(topic)
    scene.turnstile.begin(replace if at != "preview" else passed)
    ended = play(
        f"offsets reset {scene.group} --topic {topic} --to-offset 0 --execute --yes", "-b", scene.bootstrap
    )
    assert ended.status == (0 if at == "preview" else 4), ended
    refused = f"{scene.group}, {topic}-0: UNKNOWN_TOPIC_ID: the topic was deleted and created again"
    assert (refused in ended.stderr) == (at != "preview"), ended


def test_an_undo_that_brokers_refuse_has_failed_with_their_words(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They accept the lower level when it is validated; then another program sets one below."""
    monkeypatch.setenv("KOHORT_JOURNAL", str(tmp_path))
    scene.turnstile.begin(passed)
    level, execution = "transaction.version", ("--execute", "--yes", "-b", scene.bootstrap)
    for change in f"{level}=1 --downgrade", f"{level}=2":
        assert play(f"features set {change}", *execution).status == 0
    asked = []

    def lower(_: int, key: int) -> Move:
        asked.append(key)
        if key == UPDATE_FEATURES.key and asked.count(key) == 2:
            assert update_features(scene.client, {level: 0}, SAFE_DOWNGRADE, validate_only=False) is None
        return Move.PASS

    scene.turnstile.begin(lower)
    ended = play("undo", *execution)
    assert ended.status == 4, ended
    *_, (entry, end) = read_journal(tmp_path)[0]
    assert (entry.verb, end and end.status) == ("undo", EntryStatus.FAILED)
    (result,) = end.results if end else ()
    assert result.result is ItemOutcome.FAILED
    assert "Can't downgrade to a newer version. (INVALID_UPDATE_VERSION)" in (result.message or "")
    assert f"features: {result.message}" in ended.stderr, ended


@pytest.mark.usefixtures("handled_interrupts")
def test_the_line_of_progress_names_the_change_until_a_signal_ends_it(scene: Scene, kohort: Kohort) -> None:
    scene.turnstile.begin(passed)
    scene.fresh()
    scene.turnstile.begin(lambda _, key: Move.MUTE if key == OFFSET_COMMIT.key else Move.PASS)
    line = [os.fsdecode(word) for word in words(*CHANGES["shift"].command(scene, 60))]
    controller, terminal = pty.openpty()
    resize(terminal, 400, 24)
    env = {"TERM": "xterm", **kohort.env}
    said = bytearray()
    with subprocess.Popen(
        [kohort.executable, *line], stdin=terminal, stdout=subprocess.DEVNULL, stderr=terminal, env=env
    ) as process:
        os.close(terminal)

        def show(chunk: bytes) -> None:
            said.extend(chunk)
            for text, sent in SENT.items():
                if text.encode() in said and said.count(b"SIG") == list(SENT).index(text):
                    process.send_signal(sent)

        read_to_end(controller, show)
        os.close(controller)
    assert process.wait(30) == 128 + signal.SIGTERM
    assert f"{UNKNOWN}kohort describe {scene.group} --offsets shows whether it was." in said.decode()
    scene.turnstile.begin(passed)
    assert scene.committed() == 7


SENT = {
    "kohort: making the change: set 1 offset of ": signal.SIGTERM,
    "kohort: SIGTERM: nothing more is sent; waiting up to 3 s for the answer": signal.SIGINT,
}
"""What is sent when this is shown."""
