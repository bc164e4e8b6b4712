"""Tokens that a command prints: kohort.token.command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress

from wire.client.errors import AuthenticationFailed, Unreachable
from wire.client.security import TokenCommand
from wire.client.steps import Deadline
from wire.client.tokens.token import Token, clipped, masked, token_in, token_of

_LONGEST_OUTPUT = 1 << 20
_LONGEST_COMPLAINT = 300


def printed_token(command: TokenCommand, deadline: Deadline) -> Token:
    """Run the command, without a shell and without input, and read the token that it prints.

    It prints the token alone, or a JSON object with `access_token` and `expires_in`. Of what it writes to standard
    error the end is shown when it fails.
    :raises AuthenticationFailed: it fails, or prints no token
    :raises Unreachable: it does not end in time; it is then killed, with the processes that it started
    """
    where = f"the token command {command.arguments[0]}"
    status, output, complaint = _run(command, where, deadline.sooner(command.timeout_ms))
    text = output.decode("utf-8", "replace").strip()
    said = clipped(masked(complaint, [text] if len(text) > 1 else ()), _LONGEST_COMPLAINT)
    because = f": {said}" if said else ""
    if status:
        how = f"exit status {status}" if status > 0 else f"signal {-status}"
        raise AuthenticationFailed(f"{where} failed ({how}){because}. Run it by hand to see why.")
    if not text:
        raise AuthenticationFailed(f"{where} printed nothing{because}. It must print a token.")
    if not text.startswith("{"):
        return token_of(text, where)
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise AuthenticationFailed(f"{where} printed something that is neither a token nor JSON.") from None
    token = token_in(answer, where) if isinstance(answer, Mapping) else None
    if token is None:
        raise AuthenticationFailed(f"{where} printed JSON without an access_token.")
    return token


def _run(command: TokenCommand, where: str, deadline: Deadline) -> tuple[int, bytes, str]:
    """Exit status, standard output, and the end of standard error."""
    with tempfile.TemporaryFile() as complaints:
        try:
            # A session of its own: what the command starts can be ended with it.
            process = subprocess.Popen(  # noqa: S603
                command.arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is not a command"
            raise AuthenticationFailed(
                f"{where} cannot be run: {reason}. Check kohort.token.command; it is run without a shell, so ~ and "
                "$VARIABLES stay as they are."
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
            raise Unreachable(where, "it did not end in time. Allow more with kohort.token.timeout.ms.")
        complaints.seek(max(0, complaints.tell() - 4096))
        return status, output, complaints.read().decode("utf-8", "replace")


def _read(process: subprocess.Popen[bytes]) -> bytes:
    """What it prints; one that prints too much is ended."""
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
