"""What may never return, until a deadline: calls of libraries without a timeout, and commands that print a secret.
Commands run without a shell and without input; texts of others appear in messages on one line, without possible
secrets."""

import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TypeVar

from wire.client.steps import Deadline

T = TypeVar("T")

_LONGEST_EXCERPT = 100
_LONG_WORD = re.compile(r"[\w+/=.~-]{24,}")

_LONGEST_OUTPUT = 1 << 20
_LONGEST_COMPLAINT = 300


def in_time(call: Callable[[], T], deadline: Deadline) -> T:
    """The result of `call`, run in a thread that is abandoned at the deadline. Raises TimeoutError."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # raised again in the caller
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(deadline.remaining_ms() / 1000)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError
    return results[0]


class CommandFailed(Exception):
    """The command printed nothing usable; the message says why, without any of its output."""


class CommandLate(CommandFailed):
    """The command did not finish in time and was killed, with the processes that it started."""


def printed_by(arguments: Sequence[str], deadline: Deadline) -> str:
    """The output of a command, stripped. Raises CommandFailed: it cannot be run, fails, or prints nothing."""
    status, output, complaint = _run(arguments, deadline)
    text = output.decode("utf-8", "replace").strip()
    said = clipped(masked(complaint, [text] if len(text) > 1 else ()), _LONGEST_COMPLAINT)
    because = f": {said}" if said else ""
    if status:
        how = f"exit status {status}" if status > 0 else f"signal {-status}"
        raise CommandFailed(f"failed ({how}){because}. Run it by hand to see why.")
    if not text:
        raise CommandFailed(f"printed nothing{because}.")
    return text


def _run(arguments: Sequence[str], deadline: Deadline) -> tuple[int, bytes, str]:
    with tempfile.TemporaryFile() as complaints:
        try:
            # In a new session: the processes that the command starts can be killed with it.
            process = subprocess.Popen(  # noqa: S603
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is not a command"
            raise CommandFailed(
                f"cannot be run: {reason}. It is run without a shell, so ~ and $VARIABLES stay as they are."
            ) from None
        is_late = threading.Event()

        def give_up() -> None:
            is_late.set()
            _kill(process)

        timer = threading.Timer(deadline.remaining_ms() / 1000, give_up)
        timer.start()
        try:
            output = _read(process)
            status = process.wait()
        finally:
            timer.cancel()
            if process.poll() is None:
                _kill(process)
                process.wait()
        if is_late.is_set():
            raise CommandLate("did not finish in time.")
        complaints.seek(max(0, complaints.tell() - 4096))
        return status, output, complaints.read().decode("utf-8", "replace")


def _read(process: subprocess.Popen[bytes]) -> bytes:
    """The command's output; it is killed if it prints too much."""
    pipe = process.stdout
    if pipe is None:
        return b""
    with pipe:
        output = pipe.read(_LONGEST_OUTPUT)
        if len(output) == _LONGEST_OUTPUT:
            _kill(process)
    return output


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def excerpt(answer: bytes, secrets: Collection[str] = ()) -> str:
    return clipped(masked(answer[:4096].decode("utf-8", "replace"), secrets)) if answer.strip() else "nothing"


def masked(text: str, secrets: Collection[str] = ()) -> str:
    """Text of another party, on one line, without known secrets and without anything that looks like a token."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    printable = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(_LONG_WORD.sub(_hidden, printable).split())


def clipped(text: str, length: int = _LONGEST_EXCERPT) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def _hidden(word: re.Match[str]) -> str:
    """Hide a long word of digits and letters in both cases: it may be a token, and is seldom a path or host name."""
    text = word[0]
    tests = (str.isdigit, str.islower, str.isupper)
    return "***" if all(any(map(test, text)) for test in tests) else text
