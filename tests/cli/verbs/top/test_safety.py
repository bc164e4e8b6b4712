"""No key of `kohort top` changes a cluster by itself: requests are recorded by a port between it and the broker."""

import random
import string
import unicodedata
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key
from textual.screen import Screen

from cli.options import SourceOptions
from cli.verbs.top import completions, running
from cli.verbs.top.app import SCREENS, TopApp
from cli.verbs.top.options import TopOptions
from cli.verbs.top.screens.output import ChangeScreen
from cli.verbs.top.words import change, view
from groups.yaml_files import yaml_lines
from migration.model import Destination
from migration.plan_file import plan_to_data
from tests.cli.served_data import serving
from tests.cli.verbs.top.driving import Driven, drive
from tests.kafka.ports import HOST
from tests.kafka.turnstile import READING, Turnstile
from tests.migration.gate.groups import TOPIC, classic, plan_for
from tests.support.long import IS_LONG, LONG

GROUP = classic(1).id
NAMED = (
    *(
        "enter",
        "escape",
        "tab",
        "shift+tab",
        "backspace",
        "delete",
        "up",
        "down",
        "left",
        "right",
        "home",
        "end",
    ),
    *("pageup", "pagedown", "space", "insert", *(f"f{number}" for number in range(1, 13))),
    *(
        f"ctrl+{letter}" for letter in string.ascii_lowercase if letter not in "cqz"
    ),  # These end or suspend it
)
PUNCTUATION = {
    unicodedata.name(sign).lower().replace(" ", "_").replace("-", "_"): sign for sign in string.punctuation
}
KEYS = (*NAMED, *PUNCTUATION, *string.ascii_letters, *string.digits)
SUBJECTS = {
    "groups": (), "group": (GROUP,), "member": (GROUP, "m1"), "partition": (GROUP, TOPIC, "0"),
    "topic": (TOPIC,), "topics": (), "cluster": (), "contexts": (), "plan": (GROUP,),
    "keys": (),
}  # fmt: skip
OTHERS = ("view", "change", "line", "time")
COMMAND = """\
echo "$*" >> {asked}
case "$*" in
*--execute*)
    printf 'about to change it.\nType yes to continue: '
    read answer
    [ "$answer" = yes ] && echo "$*" >> {made} ;;
*) echo printed ;;
esac
"""
"""It stands for `kohort`, which takes half a second: it asks for consent, and says what it was asked and has made."""


@dataclass(frozen=True)
class Guarded:
    turnstile: Turnstile
    directory: Path

    @property
    def made(self) -> str:
        return _text(self.directory / "made")

    @property
    def asked(self) -> str:
        return _text(self.directory / "asked")

    def check(self) -> None:
        assert set(self.turnstile.keys) <= READING
        assert not self.made

    def drive(
        self, course: Callable[[Driven], Coroutine[Any, Any, None]], *, read_only: bool = False
    ) -> None:
        source = SourceOptions(bootstrap_server=f"{HOST}:{self.turnstile.port}")
        drive(course, source, TopOptions(read_only=read_only), size=(80, 24))


def _text(file: Path) -> str:
    return file.read_text() if file.exists() else ""


@pytest.fixture(scope="module")
def turnstile() -> Iterator[Turnstile]:
    turnstile = Turnstile()
    with serving(None, "--advertise", f"{HOST}:{turnstile.port}", "--topic", f"{TOPIC}:2") as served:
        turnstile.open(served.port)
        yield turnstile
    turnstile.cut()


@pytest.fixture
def guarded(turnstile: Turnstile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guarded:
    """Give the port, with a stand-in for commands, and the file of a plan in the working directory."""

    async def stays(_: TopApp) -> None:
        """It does not end."""

    turnstile.keys.clear()
    guarded = Guarded(turnstile, tmp_path)
    plan = plan_to_data(plan_for(classic(1), Destination.COOPERATIVE))
    (tmp_path / f"{GROUP}.plan.yaml").write_text("".join(yaml_lines(plan)))
    command = COMMAND.format(asked=tmp_path / "asked", made=tmp_path / "made")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(TopApp, "action_quit", stays)
    monkeypatch.setattr(running, "KOHORT", ("sh", "-c", command, "kohort"))
    return guarded


async def hit(driven: Driven, *keys: str) -> None:
    """As `press`, which waits for 20 ms after each key."""
    for key in keys:
        character = PUNCTUATION.get(key, " " if key == "space" else key if len(key) == 1 else None)
        event = Key(key, character)
        event.set_sender(driven.app)
        assert driven.app._driver is not None
        driven.app._driver.send_message(event)
    await driven.pilot.pause()


async def show(driven: Driven, name: str) -> None:
    app = driven.app
    while len(app.screen_stack) > 2:
        app.pop_screen()
    if name == "view":
        app.run_command(view("describe", GROUP))
    elif name == "change":
        app.run_command(change("delete", GROUP))
        await driven.wait_for("Nothing is changed yet" if not app.is_read_only else "printed")
    elif name == "line":
        app.action_command_line()
    elif name == "time":
        app.action_time()
    elif name != "groups":
        app.open_screen(name, *SUBJECTS[name])
    await driven.pilot.pause()


def test_all_screens_are_here_and_can_be_typed() -> None:
    assert SUBJECTS.keys() == SCREENS.keys() == completions.SUBJECTS.keys()


@pytest.mark.parametrize(
    ("screens", "read_only"),
    [
        (("group", "change"), False),
        (("change",), True),
        *(pytest.param((*SUBJECTS, *OTHERS), read_only, marks=LONG) for read_only in (False, True)),
    ],
)
def test_no_key_of_a_screen_changes_anything(
    guarded: Guarded, screens: Sequence[str], *, read_only: bool
) -> None:
    """In a long run on all screens, each key on a fresh one; otherwise keys that do nothing are pressed at once."""

    async def course(driven: Driven) -> None:
        for name in screens:
            await show(driven, name)
            bound = [key for key in KEYS if IS_LONG or key in driven.app.screen.active_bindings]
            await hit(driven, *(key for key in KEYS if key not in bound))
            stack: list[Screen[Any]] = []
            for key in bound:
                if IS_LONG or driven.app.screen_stack != stack or driven.app.screen.focused is None:
                    await show(driven, name)
                    stack = [*driven.app.screen_stack]
                await hit(driven, key)
                guarded.check()

    guarded.drive(course, read_only=read_only)
    assert guarded.turnstile.keys
    assert ("--execute" in guarded.asked) is not read_only


def test_a_change_needs_its_answer_in_full(guarded: Guarded) -> None:
    async def course(driven: Driven) -> None:
        await show(driven, "change")
        for key in KEYS if IS_LONG else KEYS[::8]:
            if not isinstance(driven.app.screen, ChangeScreen):
                await show(driven, "change")
            await hit(driven, "x")
            await hit(driven, key, "enter")
            assert not guarded.made, key
        await show(driven, "change")
        await driven.press("x", *"yes", "enter")
        await driven.wait_for(lambda: guarded.made, "the change")

    guarded.drive(course)
    assert guarded.made.startswith(f"delete {GROUP} ")


@pytest.mark.parametrize(
    ("seed", "count"), [(1, 100), *(pytest.param(seed, 10_000, marks=LONG) for seed in (2, 3))]
)
def test_random_keys_change_nothing(guarded: Guarded, seed: int, count: int) -> None:
    chance = random.Random(seed)

    async def course(driven: Driven) -> None:
        for _ in range(count // 10):
            await hit(driven, *chance.choices(KEYS, k=10))
        guarded.check()

    guarded.drive(course, read_only=bool(seed % 2))
