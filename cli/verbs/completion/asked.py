"""`kohort _complete`: names for a shell, in time or not at all, and never a word beside them.

A process of its own asks the source. The first one waits for it until the time is over, and leaves in any case; the
other one goes on for some seconds and puts what it learns into the cache, for the next Tab.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import NoReturn

from cli.verbs.completion.cache import Cache
from cli.verbs.completion.question import Question, identity, parse_question

TIME_LIMIT_MS = 250
"""From the start of the process; the shell has 50 ms more for itself. $KOHORT_COMPLETION_MS changes it."""
ASKING_LIMIT_S = 5
"""How long the source is asked behind the scenes, where the time limit is not longer still."""
UNKNOWN_START_S = 0.1
"""What the start is taken to have cost where the system does not tell."""


def main() -> NoReturn:
    """Print `name TAB description`, a line each."""
    with suppress(BaseException):
        print_names(sys.argv[2:], time.monotonic() - age_s() + limit_ms() / 1000)
    os._exit(0)  # neither the interpreter's end nor anything it may say is waited for


def print_names(words: list[str], deadline: float) -> None:
    """Answer the question of a script, by `deadline` (of the monotonic clock)."""
    question = parse_question(words)
    cache = Cache(identity(question, os.environ), os.environ)
    answer = cache.fresh()
    if answer is None:
        answer = ask_beside(question, cache, deadline)
    typed = {os.fsencode(argument) for argument in question.arguments}
    lines = [line for line in answer.splitlines(keepends=True) if line.partition(b"\t")[0] not in typed]
    write_all(sys.stdout.fileno(), b"".join(lines))


def ask_beside(question: Question, cache: Cache, deadline: float) -> bytes:
    """What another process learns by the deadline; nothing when it has not all of it by then."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        with suppress(BaseException):
            os.close(reader)
            _ask(question, cache, writer)
        os._exit(0)
    os.close(writer)
    answer = b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([reader], [], [], left)[0]:
            break
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            return answer
        answer += chunk
    return b""


def _ask(question: Question, cache: Cache, writer: int) -> None:
    os.setsid()  # a Ctrl-C on the terminal is not for us, nor is its end
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    limit_s = max(ASKING_LIMIT_S, round(limit_ms() / 1000))
    signal.alarm(limit_s)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # the shell reads until the last one who could write is gone
        os.dup2(nothing, stream)
    with cache.asking() as alone:
        if not alone:
            return
        from cli.verbs.completion.names import names_for

        answer = names_for(question, limit_s * 1000)
        cache.store(answer)
        write_all(writer, answer)


def limit_ms() -> int:
    """How long a shell may be kept waiting."""
    told = os.environ.get("KOHORT_COMPLETION_MS", "")
    return int(told) if told.isascii() and told.isdecimal() else TIME_LIMIT_MS


def write_all(descriptor: int, content: bytes) -> None:
    """Write everything; OSError when nobody reads."""
    while content:
        content = content[os.write(descriptor, content) :]


def age_s() -> float:
    """How long this process has been running, in seconds."""
    try:
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started)
    except (AttributeError, IndexError, OSError, ValueError):
        return UNKNOWN_START_S
