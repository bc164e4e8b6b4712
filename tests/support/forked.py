"""Runs `kohort` in a process that is forked from one that has imported everything: that alone costs 0.1 to 0.6 s.

What such a process runs is `cli.start.main`, as the installed script does, with arguments, an environment, a directory
and files of its own. What a command imports, and how long its start takes, is for tests that start the script itself.

`serve` is what the process to fork from does. For each message on its socket, which carries the files that `FILES`
names, it forks a process that forks the command, and sends its id and then its status.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

PACKAGES = ("assignors", "wire", "groups", "coordinator", "migration", "cli")
FILES = ("request", "stdin", "stdout", "stderr", "reply")
AT_START = frozenset({"LANG", "LC_ALL", "LC_CTYPE"})
"""Of the environment, what Python reads when it starts, before the first line of a program."""
_servers: list[tuple[socket.socket, subprocess.Popen[bytes]]] = []


def run(
    command: Sequence[str | bytes | Path], *, env: Mapping[str, str], stdin: str | None, timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """Run the script `kohort`, first in `command`, as `subprocess.run` does; TimeoutExpired when it does not end."""
    words = [os.fsdecode(word) for word in command]
    request = {"arguments": words, "env": dict(env), "directory": os.getcwd()}
    start = tuple(sorted((name, value) for name, value in env.items() if name in AT_START))
    with (
        tempfile.TemporaryFile("w+") as asked,
        tempfile.TemporaryFile("w+", encoding="utf-8") as given,
        tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as stdout,
        tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as stderr,
    ):
        json.dump(request, asked)
        given.write(stdin or "")
        for file in (asked, given):
            file.flush()
            file.seek(0)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours:
            with theirs:
                files = [file.fileno() for file in (asked, given, stdout, stderr, theirs)]
                socket.send_fds(_server(start), [b"run"], files)
            status = _status(ours, words, timeout_s)
        for file in (stdout, stderr):
            file.seek(0)
        # As text is read from a pipe.
        said, complained = (
            file.read().replace("\r\n", "\n").replace("\r", "\n") for file in (stdout, stderr)
        )
    return subprocess.CompletedProcess(words, status, said, complained)


def _status(reply: socket.socket, words: list[str], timeout_s: float) -> int:
    reply.settimeout(timeout_s)
    pid = int(reply.recv(32))
    try:
        return int(reply.recv(32))
    except TimeoutError as error:
        os.kill(pid, signal.SIGKILL)
        raise subprocess.TimeoutExpired(words, timeout_s) from error


@cache
def _server(start: tuple[tuple[str, str], ...]) -> socket.socket:
    """The process to fork from, for environments that begin alike; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            # Not `-m`, after which click names the program otherwise.
            [sys.executable, "-c", "from tests.support.forked import serve; serve()", str(theirs.fileno())],
            env={"PATH": "/usr/bin:/bin", **dict(start)},
            cwd=Path(__file__).parents[2],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
    _servers.append((ours, process))
    return ours


def end() -> None:
    """End the processes to fork from, so that their time counts as this one's."""
    for server, process in _servers:
        server.close()
        process.wait()
    _servers.clear()
    _server.cache_clear()


def _import_all() -> None:
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(path, f"{package}."):
            # What cannot be imported here is for the command that needs it.
            with suppress(ImportError):
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


def serve() -> None:
    """Import everything, fork for each message on the socket that the first argument numbers, and run the command."""
    from cli.start import main

    _import_all()
    _fork(socket.socket(fileno=int(sys.argv[1])))
    main()


def _fork(server: socket.socket) -> None:
    """Fork for each message; return in a process that is to run the command."""
    while True:
        message, files, _, _ = socket.recv_fds(server, 16, len(FILES))
        if not message:
            _end(server)
        if os.fork():
            for file in files:
                os.close(file)
            _reap(os.WNOHANG)
            continue
        server.close()
        request, *standard, reply = files
        pid = os.fork()
        if not pid:
            os.close(reply)
            _become(request, standard)
            return
        answer = socket.socket(fileno=reply)
        answer.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        with suppress(OSError):  # nobody waits any more
            answer.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)


def _become(request: int, standard: Sequence[int]) -> None:
    with open(request, encoding="utf-8") as file:
        asked = json.load(file)
    for number, fd in enumerate(standard):
        os.dup2(fd, number)
        os.close(fd)
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    os.chdir(asked["directory"])
    sys.argv = asked["arguments"]
    sys.path[0] = str(Path(sys.argv[0]).parent)


def _reap(options: int) -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, options)[0]:
            pass


def _end(server: socket.socket) -> NoReturn:
    server.close()
    _reap(0)
    sys.exit()
