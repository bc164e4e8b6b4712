"""The operator's command with real processes: what it gets, what may go wrong with it, and what is left behind."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cli.errors import UsageError
from cli.verbs.migrate import hook as hooks
from cli.verbs.migrate.hook import NAMES, FormerHook, Hook, command_of, properties_text, start_hook
from cli.verbs.migrate.processes import GRACE_S, mark_of
from migration.execution.events import HookResult, RunHook
from migration.execution.settings import SettingsChange
from migration.model import PlannedMember
from tests.cli.verbs.migrate.stories import order_of
from tests.kafka.wait import wait_until
from tests.migration.cases import COOPERATIVE
from tests.migration.rehearsal.groups import classic_group, planned

PLAN = planned(classic_group(), COOPERATIVE).plan
ODD = 'it\'s "a" $(touch hit) `touch hit` ;&| *\n\\ {step} ü😀'
FOREVER_S = 60.0


@dataclass(slots=True)
class Rig:
    directory: Path
    started: list[Hook] = field(default_factory=list)

    @property
    def pid(self) -> Path:
        return self.directory / "pid"

    def start(self, command: str, *, id_: str = "id-1", client_id: str = "billing-1") -> Hook:
        order = an_order(id_, client_id)
        hook = start_hook(command_of(command), order, PLAN, self.directory, time.monotonic(), FOREVER_S)
        self.started.append(hook)
        return hook

    def run(self, command: str) -> HookResult:
        return result_of(self.start(command))

    def script(self, text: str) -> Path:
        file = self.directory / "restart"
        file.write_text(text)
        file.chmod(0o755)
        return file


def an_order(id_: str = "id-1", client_id: str = "billing-1") -> RunHook:
    change = SettingsChange(lines={"group.protocol": "consumer"}, removed=("session.timeout.ms", "a"))
    return order_of(PlannedMember(id=id_, client_id=client_id, host="/10.0.0.7"), (2, 1), change)


def result_of(hook: Hook, later_s: float = 0.0) -> HookResult:
    def result() -> HookResult | None:
        return hook.poll(time.monotonic() + later_s)

    return wait_until(result, "the hook has ended", every_s=0.01)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path)
    yield rig
    for hook in rig.started:
        hook.end(time.monotonic(), "the test is over")
        result_of(hook)


def number_in(file: Path) -> int:
    wait_until(lambda: file.exists() and file.read_text().endswith("\n"), "it has written", every_s=0.01)
    return int(file.read_text())


def check_left_running(process: int) -> None:
    assert mark_of(process)
    os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize(
    ("command", "message"),
    {
        "": "the command is empty",
        "echo 'x": "No closing quotation",
        "/no/such/file {step}": "/no/such/file does not exist",
        "no-such-command-anywhere": "no-such-command-anywhere is not in the PATH",
        "/tmp": "/tmp is a directory",
        "/etc/passwd": "/etc/passwd is not executable (chmod +x)",
        "~/restart": "~/restart is not expanded: there is no shell",
        "echo {clientid}": "unknown placeholder {clientid}; known: group, plan, member, client_id,",
        "sudo bash -ec 'restart {client_id}'": 'in the text of a shell, write "$KOHORT_CLIENT_ID"',
    }.items(),
)
def test_a_command_that_cannot_be_run_is_refused(command: str, message: str) -> None:
    with pytest.raises(UsageError, match="--restart: ") as refused:
        command_of(command)
    assert message in str(refused.value)


def test_a_hook_gets_facts_as_arguments_and_environment(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOHORT_COMMAND_CONFIG", "of the run, not of the hook")
    command = """sh -c 'printf "%s\\0" "$@"; env -0; cat' sh -{client_id}- '{print $1}{{.Names}}{{host}}' """
    hook = rig.start(command + "{action}{step}.{round}", client_id=ODD)
    assert result_of(hook).problem == ""
    printed = hook.output.read_text().split("\0")
    assert printed[:3] == [f"-{ODD}-", "{print $1}{{.Names}}{host}", "restart2.1"]
    environment = dict(line.split("=", 1) for line in printed[3:-1])
    kohort = {name: value for name, value in environment.items() if name.startswith("KOHORT_")}
    assert kohort.keys() == {f"KOHORT_{name.upper()}" for name in NAMES}
    assert kohort["KOHORT_CLIENT_ID"] == ODD
    assert kohort["KOHORT_HOST"] == "10.0.0.7"
    assert kohort["KOHORT_REMOVE"] == "session.timeout.ms,a"
    config = Path(kohort["KOHORT_CONFIG"])
    assert config.read_text() == "group.protocol=consumer\n"
    assert {file.stat().st_mode & 0o777 for file in (config, hook.output)} == {0o600}
    assert not Path("hit").exists()


def test_members_with_names_alike_have_files_apart(rig: Rig) -> None:
    outputs = {
        rig.start("true", id_=id_, client_id=client).output
        for id_, client in (("1", "a b"), ("2", "a/b"), ("3", "a/b"))
    }
    assert len(outputs) == 3


@pytest.mark.parametrize(
    ("value", "problem"),
    {"a\0b": "a character that no command can get", "a" * 200_000: "Argument list too long"}.items(),
)
def test_a_value_that_no_process_can_get_starts_nothing(rig: Rig, value: str, problem: str) -> None:
    with pytest.raises(OSError, match=problem):
        rig.start("echo {client_id}", client_id=value)


def test_a_file_of_settings_that_cannot_be_written_starts_nothing(rig: Rig, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("of somebody else")
    rig.run("true")
    config = next(tmp_path.glob("*.properties"))
    config.unlink()
    config.symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        rig.start("true")
    assert target.read_text() == "of somebody else"


@pytest.mark.parametrize(
    ("script", "problem"),
    {
        "exit 0": "",
        "echo 'without a shebang'": "",
        "#!/no/such/interpreter": "exit status 127; its output, OUTPUT, ends with: ",
        "exit 3": "exit status 3; it printed nothing",
        "kill -9 $$": "it was killed by SIGKILL; it printed nothing",
        "kill -40 $$": "it was killed by signal 40; it printed nothing",
        "printf '1\\n2\\n3\\n\\377\\nlast'; exit 1": "exit status 1; its output, OUTPUT, ends with: 3 / � / last",
    }.items(),
)
def test_how_a_hook_ended_and_its_last_lines_are_reported(rig: Rig, script: str, problem: str) -> None:
    hook = rig.start(str(rig.script(script + "\n")))
    assert result_of(hook).problem.startswith(problem.replace("OUTPUT", str(hook.output)))


def test_output_of_a_former_hook_is_not_reported_again(rig: Rig) -> None:
    rig.run("echo former")
    assert rig.run("false").problem == "exit status 1; it printed nothing"


def test_of_endless_output_the_end_is_kept(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "MOST_OUTPUT", 100_000)
    hook = rig.start("yes {step}")
    largest = 0

    def was_cut() -> bool:
        nonlocal largest
        largest = max(largest, size := hook.output.stat().st_size)
        assert hook.poll(time.monotonic()) is None
        return size < largest

    wait_until(was_cut, "its output is cut", every_s=0.01)
    wait_until(lambda: hook.output.stat().st_size, "it prints more", every_s=0.01)
    hook.end(time.monotonic(), "enough")
    assert result_of(hook).problem.endswith("ends with: 2 / 2 / 2")


@pytest.mark.parametrize("status", [0, 1])
def test_a_hook_that_ends_by_itself_leaves_what_it_started(rig: Rig, status: int) -> None:
    result = rig.run(f"sh -c 'sleep 50 & echo $! >\"$0\"; exit {status}' {rig.pid}")
    assert result.problem.startswith("exit status 1" if status else "")
    check_left_running(number_in(rig.pid))


@pytest.mark.parametrize(
    ("script", "is_ended"),
    {
        "sleep 50 & echo $! >PID; sleep 50": True,
        "trap '' TERM; sleep 50 & echo $! >PID; wait": True,
        "set -m; sleep 50 & echo $! >PID; sleep 50": True,  # in its own process group
        "(sleep 50 & echo $! >PID); kill -STOP $$": True,
        "setsid sh -c 'echo $$ >PID; exec sleep 50' & sleep 50": False,
    }.items(),
)
def test_a_late_hook_is_ended_with_its_session(rig: Rig, script: str, is_ended: bool) -> None:
    hook = rig.start(f"{rig.script('#!/bin/bash' + chr(10) + script.replace('PID', str(rig.pid)))}")
    process = number_in(rig.pid)
    assert hook.poll(time.monotonic() + FOREVER_S) is None
    result = result_of(hook, later_s=FOREVER_S + (GRACE_S if "trap" in script or "STOP" in script else 0.0))
    assert result.timed_out
    assert result.problem == "it did not end within 1 min, and was ended; it printed nothing"
    assert bool(mark_of(process)) is not is_ended
    if not is_ended:
        os.kill(process, signal.SIGKILL)


def test_a_hook_that_has_just_ended_by_itself_is_not_interrupted(rig: Rig) -> None:
    hook = rig.start(f"sh -c 'sleep 50 & echo $! >{rig.pid}'")
    process = number_in(rig.pid)
    hook.process.wait()
    hook.end(time.monotonic(), "it was interrupted")
    assert result_of(hook).problem == ""
    check_left_running(process)


def test_a_hook_that_is_interrupted_is_no_late_one(rig: Rig) -> None:
    hook = rig.start("sleep 50")
    hook.end(time.monotonic(), "it was interrupted")
    result = result_of(hook)
    assert (result.problem, result.timed_out) == ("it was interrupted; it printed nothing", False)


def killed_run(rig: Rig, command: str, *, is_noted: bool) -> FormerHook:
    """What is left of a run that was killed when, or before, its hook was noted."""
    reader, writer = os.pipe()

    def note(process: int, mark: str) -> None:
        os.write(writer, f"{process} {mark}".encode())
        if not is_noted:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if not child:
        start_hook(command_of(command), an_order(), PLAN, rig.directory, 0.0, FOREVER_S, note)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    process, _, mark = os.read(reader, 1000).decode().partition(" ")
    os.close(reader)
    os.close(writer)
    return FormerHook(member="billing-1", process=int(process), started=mark)


def test_a_hook_of_a_killed_run_is_awaited(rig: Rig, tmp_path: Path) -> None:
    end = tmp_path / "end"
    former = killed_run(rig, f"sh -c 'until [ -e {end} ]; do sleep 0.01; done'", is_noted=True)
    assert not former.has_ended(0.0, FOREVER_S)
    end.touch()
    wait_until(lambda: former.has_ended(0.0, FOREVER_S), "the hook has ended", every_s=0.01)


def test_a_stuck_hook_of_a_killed_run_is_ended(rig: Rig) -> None:
    former = killed_run(rig, f"sh -c 'trap \"\" TERM; sleep 50 & echo $! >{rig.pid}; wait'", is_noted=True)
    child = number_in(rig.pid)
    assert not former.has_ended(0.0, timeout_s=0.0)
    wait_until(lambda: former.has_ended(GRACE_S, FOREVER_S), "the hook has ended", every_s=0.01)
    assert not former.is_running
    assert not mark_of(child)


def test_a_hook_that_was_not_noted_does_nothing(rig: Rig, tmp_path: Path) -> None:
    former = killed_run(rig, f"touch {tmp_path / 'done'}", is_noted=False)
    wait_until(lambda: former.has_ended(0.0, FOREVER_S), "it has ended", every_s=0.01)
    assert not (tmp_path / "done").exists()


def test_another_process_with_the_same_number_is_not_the_hook() -> None:
    process = os.getpid()
    boot, _, began = mark_of(process).partition(" ")
    for mark in ("", f"{boot} {int(began) + 1}", f"another-boot {began}"):
        assert FormerHook(member="billing-1", process=process, started=mark).has_ended(0.0, 0.0)


VALUES = {
    "plain": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor, range",
    "path": "C:\\users\\new\\tables",
    "blank": "  two blanks, and at the end ",
    "comment": "#!=:",
    "lines": "one\ntwo\r\n\tthree\f",
    "unicode": "ü 中 😀 \u2028",
    "": "no name",
    "a name: with=all #!": "",
}
JAVA = """
import java.io.*; import java.util.*;
class Read { public static void main(String[] files) throws Exception {
  PrintStream out = new PrintStream(System.out, false, "UTF-8");
  for (String file : files) {
    Properties read = new Properties(); read.load(new FileInputStream(file));
    for (String name : read.stringPropertyNames()) out.print(name + "\0" + read.getProperty(name) + "\0");
    out.print("\1");
  }
  out.flush();
}}
"""


def read_by_java(directory: Path, files: Sequence[Path]) -> list[dict[str, str]]:
    """The settings in each file, as java.util.Properties reads them."""
    reader = directory / "Read.java"
    reader.write_text(JAVA)
    done = subprocess.run(["java", reader, *files], capture_output=True, check=True)
    words = [of_file.split("\0") for of_file in done.stdout.decode().split("\1")[:-1]]
    return [dict(zip(of_file[0::2], of_file[1::2], strict=False)) for of_file in words]


@pytest.mark.usefixtures("kafka_jars")
def test_java_reads_the_file_of_settings_back(tmp_path: Path) -> None:
    file, change = tmp_path / "it.properties", SettingsChange(lines=VALUES, remarks=("a\n=remark \\",))
    file.write_text(properties_text(change), encoding="ascii")
    assert read_by_java(tmp_path, [file]) == [VALUES]


def test_a_reader_without_escapes_gets_usual_lines_as_java_does() -> None:
    usual = {
        "plain": VALUES["plain"],
        "group.protocol": "consumer",
        "group.instance.id": "a-1.b_c",
        "odd": "#!=: x",
    }
    text = properties_text(SettingsChange(lines=usual, remarks=("a\n=remark",)))
    assert dict(line.split("=", 1) for line in text.splitlines() if not line.startswith("#")) == usual
