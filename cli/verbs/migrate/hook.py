"""The operator's command, run for one member: without a shell, in its own session, with its output in a file.
What it gets and what may become of it: docs/migrate/hook.md.

A command that ends by itself, with any status, leaves running what it has started: that may be the member. One that is
late or interrupted is ended with its whole session: nothing of it may act later, on a member that somebody else has
started meanwhile.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from cli.errors import UsageError
from cli.verbs.migrate.processes import ProcessSession, age_s, mark_of
from groups.times import seconds_text
from migration.execution.events import HookResult, RunHook
from migration.execution.settings import SettingsChange
from migration.gate.notes import fingerprint
from migration.model import Plan

MOST_OUTPUT = 64 * 1024 * 1024  # Bytes that are kept of one hook's output
LAST_LINES = 3  # Of its output in a message
LONGEST_LINE = 300  # Characters of one of them
NAMES = (
    *("group", "plan", "member", "client_id", "instance", "host"),
    *("step", "round", "action", "rollback", "config", "remove"),
)
"""What a hook gets, as placeholders of its arguments, and in capitals after KOHORT_ in its environment."""
_PLACEHOLDER = re.compile(r"\{\{(?P<literal>\w+)\}\}|\{(?P<name>\w+)\}")
_SHELLS = frozenset({"sh", "ash", "bash", "dash", "ksh", "zsh"})
_WHEN_NOTED = 'read -r _ || exit 125; exec "$@" </dev/null'
"""A shell that becomes the command when its process is noted, and ends if Kohort is killed before."""


def command_of(text: str) -> tuple[str, ...]:
    """The words of `--restart`. Raises UsageError: it cannot be run, has an unknown placeholder, or has one in the text
    of a shell."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--restart: {error}") from None
    if not words:
        raise UsageError("--restart: the command is empty")
    for word in words:
        unknown = [name for name in _placeholders(word) if name not in NAMES]
        if unknown:
            raise UsageError(
                f"--restart: unknown placeholder {{{unknown[0]}}}; known: {', '.join(NAMES)}. "
                f"{{{{{unknown[0]}}}}} passes the text on unchanged."
            )
    for shell, option, script in zip(words, words[1:], words[2:], strict=False):
        if Path(shell).name in _SHELLS and option.startswith("-") and option.endswith("c"):
            for name in _placeholders(script):
                raise UsageError(
                    f"--restart: {shell} would run what {{{name}}} contains; "
                    f'in the text of a shell, write "$KOHORT_{name.upper()}"'
                )
    if not _placeholders(words[0]):
        try:
            _executable(words[0])
        except OSError as error:
            raise UsageError(f"--restart: {error.strerror}") from None
    return tuple(words)


@dataclass(slots=True, kw_only=True)
class Hook:
    """A hook that is running."""

    order: RunHook
    process: subprocess.Popen[bytes]
    output: Path
    output_from: int  # Where its own output begins in the file
    ends_s: float  # When it is ended, by the caller's clock
    timeout_s: float
    was_ended: str = ""  # Why
    _is_late: bool = False
    _session: ProcessSession = field(init=False)

    def __post_init__(self) -> None:
        self._session = ProcessSession(self.process.pid)

    def lasted_s(self, now_s: float) -> float:
        return now_s - self.ends_s + self.timeout_s

    def poll(self, now_s: float) -> HookResult | None:
        """The result if it has ended. One that is late is ended; of one that prints without end, the last is kept."""
        status = self.process.poll()
        has_ended = status is not None
        if self.was_ended:
            has_ended = self._session.is_gone(now_s, leader_has_ended=has_ended)
            return self._result(now_s, status) if has_ended else None
        if has_ended:
            return self._result(now_s, status)
        if now_s >= self.ends_s:
            self._is_late = True
            self.end(now_s, f"it did not end within {seconds_text(self.timeout_s)}, and was ended")
        elif _size(self.output) > self.output_from + MOST_OUTPUT:
            with suppress(OSError):
                os.truncate(self.output, 0)
                self.output_from = 0
        return None

    def end(self, now_s: float, why: str) -> None:
        """Ask the hook and what it has started to end; `poll` kills what does not. One that has ended by itself is left
        as it is."""
        if not self.was_ended and self.process.poll() is None:
            self.was_ended = why
            self._session.end(now_s)

    def _result(self, now_s: float, status: int | None) -> HookResult:
        how = self.was_ended or _ended_with(status or 0)
        if how and status is None:
            how += f"; process {self.process.pid} cannot be killed"
        if how:
            lines = last_lines(self.output, self.output_from)
            how += f"; its output, {self.output}, ends with: {lines}" if lines else "; it printed nothing"
        return HookResult(at_s=now_s, member=self.order.member, problem=how, timed_out=self._is_late)


@dataclass(slots=True, kw_only=True)
class FormerHook:
    """A hook of a run that was killed."""

    member: str
    process: int
    started: str
    """`mark_of` its process: another one can have the same number later."""
    _session: ProcessSession = field(init=False)

    def __post_init__(self) -> None:
        self._session = ProcessSession(self.process)

    @property
    def is_running(self) -> bool:
        return bool(self.started) and mark_of(self.process) == self.started

    def has_ended(self, now_s: float, timeout_s: float) -> bool:
        """Whether it has ended; it is ended when it is late."""
        if self._session.is_ending:
            return self._session.is_gone(now_s, leader_has_ended=not self.is_running)
        if self.is_running and age_s(self.process) >= timeout_s:
            self._session.end(now_s)
            return False
        return not self.is_running


def start_hook(
    command: Sequence[str],
    order: RunHook,
    plan: Plan,
    directory: Path,
    now_s: float,
    timeout_s: float,
    note: Callable[[int, str], object] = lambda _process, _mark: None,
) -> Hook:
    """Run the command for one member. It begins when its process is noted, with the mark: a run that is killed knows of
    every command that has done anything. Raises OSError: it cannot be started, or the files cannot be written."""
    name = _file_name(order)
    config, output = directory / f"{name}.properties", directory / f"{name}.log"
    _write_privately(config, properties_text(order.change))
    facts = facts_of(order, plan, config)
    words = [_filled(word, facts) for word in command]
    words[0] = _executable(words[0])
    environment = {key: value for key, value in os.environ.items() if not key.startswith("KOHORT_")}
    environment |= {f"KOHORT_{key.upper()}": value for key, value in facts.items()}
    output_from = _size(output)
    gated = ["/bin/sh", "-c", _WHEN_NOTED, Path(words[0]).name, *words]
    reader, writer = os.pipe()
    with (
        open(reader, "rb") as noted,
        open(writer, "wb", 0) as gate,
        open(output, "ab", opener=_private) as log,
    ):
        try:
            process = subprocess.Popen(  # noqa: S603  (the operator's command)
                gated,
                stdin=noted,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
        except ValueError as error:
            raise OSError(0, f"a value has a character that no command can get: {error}") from None
        note(process.pid, mark_of(process.pid))
        gate.write(b"\n")
    return Hook(
        order=order,
        process=process,
        output=output,
        output_from=output_from,
        ends_s=now_s + timeout_s,
        timeout_s=timeout_s,
    )


def facts_of(order: RunHook, plan: Plan, config: Path) -> Mapping[str, str]:
    seat = order.seat
    return {
        "group": plan.group,
        "plan": fingerprint(plan),
        "member": seat.id,
        "client_id": seat.client_id or "",
        "instance": seat.instance or "",
        "host": (seat.host or "").removeprefix("/"),
        "step": str(order.place[0]),
        "round": str(order.place[1]),
        "action": order.action.value,
        "rollback": "1" if order.is_rollback else "",
        "config": str(config.absolute()),
        "remove": ",".join(order.change.removed),
    }


def properties_text(change: SettingsChange) -> str:
    """The lines to set, as a file of Java properties: ASCII, which readers that know no escapes read alike unless a
    value has a backslash, a blank at its beginning, or other characters."""
    remarks = (
        line if line.startswith("#") else f"# in the program's code: {line}" for line in change.remarks
    )
    lines = [" ".join(remark.split()).encode("ascii", "backslashreplace").decode() for remark in remarks]
    for key, value in change.lines.items():
        lines.append(f"{_escaped(key, ' =:#!')}={_escaped(value[:1], ' ')}{_escaped(value[1:])}")
    return "".join(f"{line}\n" for line in lines)


def last_lines(output: Path, start: int) -> str:
    """The last lines that a hook has printed, in one; `start`: where its output begins."""
    with suppress(OSError), output.open("rb") as file:
        file.seek(max(start, _size(output) - LAST_LINES * LONGEST_LINE * 4))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
        return " / ".join(line[-LONGEST_LINE:] for line in lines[-LAST_LINES:])
    return ""


def _placeholders(word: str) -> list[str]:
    return [match["name"] for match in _PLACEHOLDER.finditer(word) if match["name"]]


def _filled(word: str, facts: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(
        lambda match: facts[match["name"]] if match["name"] else f"{{{match['literal']}}}", word
    )


def _executable(name: str) -> str:
    """The file that a shell would run. Raises OSError: no such file; `strerror` is the reason."""
    file = shutil.which(name)
    if file is not None:
        return os.path.abspath(file)
    if name.startswith(("~", "$")):
        why = "is not expanded: there is no shell"
    elif Path(name).is_dir():
        why = "is a directory"
    elif Path(name).exists() and os.sep in name:
        why = "is not executable (chmod +x)"
    else:
        why = "does not exist" if os.sep in name else "is not in the PATH"
    raise OSError(0, f"{name} {why}")


def _ended_with(status: int) -> str:
    if status >= 0:
        return f"exit status {status}" if status else ""
    names = {number.value: number.name for number in signal.Signals}
    return f"it was killed by {names.get(-status, f'signal {-status}')}"


def _file_name(order: RunHook) -> str:
    """Readable, and different for members whose names are alike."""
    step, round_ = order.place
    way, member = "back-" if order.is_rollback else "", crc32(order.member.encode(errors="replace"))
    return f"{way}{step}-{round_}-{re.sub(r'[^A-Za-z0-9_.-]', '_', order.seat.label)[:80]}-{member:08x}"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _write_privately(path: Path, text: str) -> None:
    with open(path, "w", encoding="ascii", opener=_private) as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)


_NAMED_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}


def _escaped(text: str, special: str = "") -> str:
    return "".join(_escaped_character(character, special) for character in text)


def _escaped_character(character: str, special: str) -> str:
    if character in special:
        return f"\\{character}"
    if character in _NAMED_ESCAPES:
        return _NAMED_ESCAPES[character]
    if " " <= character <= "~":
        return character
    units = character.encode("utf-16-be", errors="surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _size(file: Path) -> int:
    with suppress(OSError):
        return file.stat().st_size
    return 0
