"""Commands of the line that `:` opens, and changes: which can be run, about what, and with whose consent."""

import asyncio
import shlex
from pathlib import Path

import pytest

from cli.options import SourceOptions
from cli.verbs.top import running
from cli.verbs.top.completions import Known, completions
from cli.verbs.top.moments import moment_text
from cli.verbs.top.running import Running
from cli.verbs.top.sight import Sight
from cli.verbs.top.words import KohortCommand, change, command_of, located, next_record, view, why
from cli.verbs.why.options import HistoryOptions
from tests.cli.command import Kohort
from tests.cli.contexts import Rig as Contexts
from tests.cli.offset_rig import OffsetRig
from tests.cli.verbs.top.driving import AT_MS, MIDDLE, Driven, drive, saved

NAME = "billing"
MINUTE_MS, DAY_MS = 60_000, 24 * 3_600_000


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("describe", "describe billing"),
        ("kohort describe payments --members", "describe payments --members"),
        ("describe --members", "describe billing --members"),
        ("describe --all-groups", "describe --all-groups"),
        ("offsets reset --to-latest", "offsets reset billing --to-latest"),
        ("config get", "config get billing"),
        ("list --state Empty", "list --state Empty"),
        ("why --at 03:07", "why billing --at 03:07"),
        ("offsets clone billing other", "offsets clone billing other"),
        ("delete -- -yes", "delete -- -yes"),
    ],
)
def test_commands_are_about_the_group_on_screen(typed: str, words: str) -> None:
    assert command_of(shlex.split(typed), NAME).words == tuple(shlex.split(words))


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("serve", "neither a screen nor a command"),
        ("offsets", "neither a screen nor a command"),
        *(
            (f"delete {option}", "you are asked below")
            for option in ("--execute", "--yes", "-y", "--confirm=prod")
        ),
        *((f"list {option}", "about what is on screen") for option in ("-bhost:1", "-b", "--context=prod")),
        ("describe --watch 5s", "r runs the command again"),
        ("why --svg=x.svg", "--read-only"),
        ("plan --output-dir .", "--read-only"),
    ],
)
def test_some_commands_are_refused_with_a_reason(typed: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        command_of(shlex.split(typed), NAME, is_read_only=True)


def test_gates_are_not_recorded_in_read_only() -> None:
    assert "--no-notes" in command_of(["gate", "x.yaml", "--step", "1"], NAME, is_read_only=True).words


@pytest.mark.parametrize("group", ["-x", "--yes", "a b", "$(reboot)"])
def test_a_group_of_any_name_is_an_argument(group: str) -> None:
    source = SourceOptions(bootstrap_server="host:1")
    words = change("delete", group).with_source(source).executed().words
    assert words[-1] == group or not group.startswith("-")
    assert words.index("--execute") < words.index(group) or "--" not in words
    assert shlex.split(KohortCommand(words=words).text) == ["kohort", *words]
    peeked = next_record(group, ("orders", 0)).with_source(source).words
    assert peeked[-2:] == (group, "orders:0") or not group.startswith("-")


LIVE, LOG = SourceOptions(bootstrap_server="host:1"), SourceOptions(log_dirs=[Path("logs")])
JOURNAL = HistoryOptions(journal=Path("j.journal"))
LIVE_WORDS = ("--bootstrap-server", "host:1")


@pytest.mark.parametrize(
    ("command", "source", "files", "past_ms", "more"),
    [
        (view("describe", NAME), LIVE, HistoryOptions(), None, LIVE_WORDS),
        (view("describe", NAME), LOG, HistoryOptions(), AT_MS,
         ("--log-dir", "logs", "--as-of", "2026-03-01T03:07:00.000Z")),
        (view("describe", NAME), LIVE, HistoryOptions(), AT_MS, "is about the present"),
        (change("delete", NAME), LIVE, HistoryOptions(), AT_MS, LIVE_WORDS),
        (why(NAME, AT_MS, AT_MS), LIVE, HistoryOptions(), AT_MS, LIVE_WORDS),
        (why(NAME, None, AT_MS), LIVE, JOURNAL, AT_MS, ("--journal", "j.journal")),
        (view("describe", NAME), LIVE, JOURNAL, AT_MS, "cannot read j.journal"),
        (KohortCommand(words=("help", "lag")), LIVE, JOURNAL, AT_MS, ()),
    ],
)  # fmt: skip
def test_commands_are_about_the_source_and_the_moment_on_screen(
    command: KohortCommand,
    source: SourceOptions,
    files: HistoryOptions,
    past_ms: int | None,
    more: tuple[str, ...] | str,
) -> None:
    if isinstance(more, str):
        with pytest.raises(ValueError, match=more):
            located(command, source, files, past_ms)
    else:
        assert located(command, source, files, past_ms).words == (*command.words, *more)


@pytest.mark.parametrize(
    ("text", "before_ms"),
    [
        ("03:07", 0),
        ("307", 0),
        ("0306", MINUTE_MS),
        ("03:06:59", 1000),
        ("3:08", DAY_MS - MINUTE_MS),
        ("2m", 2 * MINUTE_MS),
        ("1772334000000", 420_000),
    ],
)
def test_a_clock_time_is_the_last_one(text: str, before_ms: int) -> None:
    assert AT_MS - moment_text(text, AT_MS) == before_ms


def test_what_happened_is_shown_around_a_moment() -> None:
    around = ("--since", "2026-03-01T03:02:00.000Z", "--until", "2026-03-01T03:08:00.000Z")
    assert why(NAME, AT_MS, AT_MS + 60_000).words == ("why", NAME, *around)


OFFSETS = {"orders": {"0": {"offset": 1}, "1": {"offset": 1}}}
GROUPS = {
    name: {"type": "consumer", "state": "Stable", "members": [{"id": "m one"}], "offsets": OFFSETS}
    for name in (NAME, "bills paid")
}


COMPLETED = {
    "": ("groups ", "group "), "gro": ("ups ", "up "), "member billing ": ("'m one'",), "topic o": ("rders",),
    "partition billing orders ": ("0", "1"), "offsets r": ("eset ",),
    "offsets reset billing --to-l": ("atest ",), "plan billing my": (".plan.yaml ",), "delete --exe": (),
    "plan --to co": ("operative ", "nsumer "), "gate my": (".plan.yaml ",), "list -": ("-match ",), "nothing ": (),
    "members remove billing --member ": ("'m one' ",), "delete 'bi": (),
}  # fmt: skip
REPLACED = {"group paid": "group 'bills paid'", "describe BILLI": "describe billing "}


def test_the_line_completes_what_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.plan.yaml").touch()

    async def course(driven: Driven) -> None:
        await driven.read()
        known = Known(sight=driven.app.sight, group=NAME)
        for text, words in COMPLETED.items():
            assert completions(text, known)[: len(words) or 1] == [text + word for word in words], text
        for text, line in REPLACED.items():
            assert completions(text, known)[0] == line

    drive(course, saved(tmp_path, GROUPS))


def test_a_broken_file_of_contexts_completes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "contexts.yaml"
    broken.write_text("contexts: [1")
    monkeypatch.setenv("KOHORT_CONFIG", str(broken))
    assert completions("context show ", Known(sight=Sight(), group=None)) == []


SLOW = """\
printf 'about to change it.\nType yes to continue: '
read answer
trap 'echo changed part of it; exit 143' TERM
[ "$answer" = yes ] && while :; do sleep 0.05; done
"""


def test_the_screen_of_a_change_stays_until_its_outcome_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(running, "KOHORT", ("sh", "-c", SLOW))

    async def course(driven: Driven) -> None:
        await driven.read()
        await driven.press("D", "enter")
        await driven.wait_for("Nothing is changed yet")
        await driven.press("x", *"yes", "enter", "escape", "q", "r", "x", "X", "ctrl+q")
        assert driven.app.is_running
        await driven.press("escape")
        assert driven.screen == "ChangeScreen"
        await driven.press("ctrl+c")
        await driven.wait_for("changed part of it")
        await driven.press("escape")
        assert driven.screen == "GroupsScreen"

    drive(course, saved(tmp_path, GROUPS))


def test_a_protected_context_is_changed_by_its_name(
    rig: OffsetRig, kohort: Kohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is switched to in place; which one is current on other terminals is no matter."""
    contexts, group = Contexts(kohort=kohort, home=tmp_path), rig.group({(rig.topic([1]), 0): 1})
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    prod = f"prod: {{bootstrap_server: '{rig.broker.bootstrap}', protected: true}}"
    saved(tmp_path, GROUPS)
    contexts.write(f"current: file\ncontexts: {{file: {{snapshot: {tmp_path}/groups.json}}, {prod}}}\n")

    async def course(driven: Driven) -> None:
        await driven.wait_for(NAME)
        await driven.press("X")
        await driven.wait_for("prod")
        await driven.press("down", "enter")
        await driven.wait_for(lambda: "prod (protected)" in driven.lines[0], "the other cluster")
        driven.app.filter_groups(group)  # The broker may have more groups than fit on the screen.
        await driven.wait_for(group)
        await driven.press("D", "enter")
        await driven.wait_for("Nothing is changed yet")
        await driven.press("x", *"yes", "enter")
        await driven.wait_for("the answer was another one")
        assert group in rig.ours("list").stdout
        await driven.press("x", *"prod", "enter")
        await driven.wait_for("deleted")

    drive(course, SourceOptions(), size=MIDDLE)
    assert group not in rig.ours("list").stdout


def test_a_preview_of_any_length_ends_with_its_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "yes 'orders:1 from 5 to 7' | head -n 400000; printf 'Type yes to continue: '; read word; echo $word done"
    monkeypatch.setattr(running, "KOHORT", ("sh", "-c", long))
    shown: list[int] = []

    async def course() -> Running:
        command = Running(change("delete", NAME), 80, lambda text: shown.append(len(text)))
        task = asyncio.create_task(command.run(can_answer=True))
        while command.awaited is None:
            await asyncio.sleep(0.02)
        with pytest.raises(ValueError, match="does not wait"):
            command.answer("no")
        command.answer("yes")
        assert await task == 0
        return command

    command = asyncio.run(course())
    assert command.text.endswith("yes done\n")
    assert "the middle is left out" in command.text
    assert max(shown) <= 2 * running.MOST_OUTPUT


def test_a_change_of_a_file_is_only_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "KOHORT", ("sh", "-c", 'echo "asked to $*"', "kohort"))

    async def course(driven: Driven) -> None:
        await driven.read()
        await driven.press("D", "enter")
        await driven.wait_for("asked to delete")
        await driven.press("x")
        assert "--execute" not in driven.text
        assert driven.screen == "ChangeScreen"

    drive(course, saved(tmp_path, GROUPS))
