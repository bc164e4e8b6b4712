"""A change is made or not, and its status and words say which, whatever happens around it."""

import gc
import json
import os
import pty
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from tests.cli.changes.playing import FULL, Played, Stream, interrupt, play
from tests.cli.changes.scene import CHANGES, Change, Scene, scene_on
from tests.cli.command import Kohort, words
from tests.cli.served_data import serving
from tests.kafka.coordinator import running_broker
from tests.kafka.members import fresh_name
from tests.kafka.ports import HOST, free_ports
from tests.kafka.topics import create_topics, delete_topic
from tests.kafka.turnstile import Decide, Move, Turnstile
from tests.support.long import IS_LONG, LONG
from tests.support.terminals import Shown, on_terminal, read_to_end, resize
from wire.client.faults import ask_for_fault, fault_client
from wire.client.security import ConnectionSettings
from wire.messages.schemas.classic_groups import LEAVE_GROUP
from wire.messages.schemas.cluster import INCREMENTAL_ALTER_CONFIGS
from wire.messages.schemas.faults import DO
from wire.messages.schemas.groups import DELETE_GROUPS
from wire.messages.schemas.offsets import OFFSET_COMMIT, OFFSET_DELETE, OFFSET_FETCH

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CHANGING = {
    api.key for api in (OFFSET_COMMIT, OFFSET_DELETE, DELETE_GROUPS, LEAVE_GROUP, INCREMENTAL_ALTER_CONFIGS)
}
UNKNOWN = "The change may have been made: "
GRACE_S = 0.2


@pytest.fixture(scope="module", params=["kohort serve", pytest.param("Kafka", marks=LONG)])
def module_scene(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Give a scene on `kohort serve`, and in a long run on Apache Kafka too."""
    turnstile, directory = Turnstile(), tmp_path_factory.mktemp("changes")
    gc.collect()
    gc.freeze()
    start = served if request.param == "kohort serve" else partial(on_kafka, request)
    try:
        with (
            start(turnstile, directory) as (port, replace_topic),
            scene_on(turnstile, port, directory, replace_topic) as scene,
        ):
            yield scene
    finally:
        gc.unfreeze()
        turnstile.cut()


Started = tuple[int, Callable[[str], object]]
"""A broker's port, and what creates a topic, deleting it first if it exists."""


@contextmanager
def served(turnstile: Turnstile, _: Path) -> Iterator[Started]:
    with serving(None, "--advertise", f"{HOST}:{turnstile.port}") as started:
        settings = ConnectionSettings(bootstrap_servers=(f"{HOST}:{started.port}",), client_id="rig")

        def replace_topic(name: str) -> None:
            with fault_client(settings) as client:
                known = client.metadata([name]).topics
                event = {"topic": name, "recreate" if known else "create": 1}
                ask_for_fault(client, 30_000, operation=DO, event=json.dumps(event))

        yield started.port, replace_topic


@contextmanager
def on_kafka(request: pytest.FixtureRequest, turnstile: Turnstile, directory: Path) -> Iterator[Started]:
    client, behind, controller = free_ports(3)
    settings = {
        "listeners": f"CLIENT://{HOST}:{client},RELAYED://{HOST}:{behind},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": f"CLIENT://{HOST}:{client},RELAYED://{HOST}:{turnstile.port}",
        "controller.quorum.voters": f"1@{HOST}:{controller}",
        "listener.security.protocol.map": "CLIENT:PLAINTEXT,RELAYED:PLAINTEXT,CONTROLLER:PLAINTEXT",
    }
    jars = request.getfixturevalue("kafka_jars")
    with running_broker(jars, directory, settings, port=client) as broker:

        def replace_topic(name: str) -> None:
            with suppress(KafkaException):
                delete_topic(broker, name)
            create_topics(broker, {name: 1})

        yield behind, replace_topic


@pytest.fixture
def scene(request: pytest.FixtureRequest, module_scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Give the scene; signals are handled by their usual handlers, and answers awaited for a short time."""
    if request.node.name.endswith("[Kafka-fault]"):
        pytest.skip("only kohort serve has faults")
    monkeypatch.setattr("cli.stopping.GRACE_S", GRACE_S)
    monkeypatch.setattr("cli.stopping._BACKSTOP_S", 0.0)
    return module_scene


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
