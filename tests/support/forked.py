"""Runs `kohort` in a process that is forked from one that has imported everything: that alone costs 0.1 to 0.6 s. Such
a process runs `cli.app.main`, like the installed script, with its own arguments, environment, directory and files. What
a command imports, and how long its start takes, is for tests that start the script itself. `serve` is what the process
to fork from does: for each connection, whose message carries the files that `FILES` names, it forks a process that
forks the command, and sends its id and then its status."""

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import IO, Any, NoReturn

from wire.errors import WireError

PACKAGES = ("assignors", "wire", "groups", "coordinator", "migration", "cli")
FILES = ("request", "stdin", "stdout", "stderr")
AT_START = frozenset({"LANG", "LC_ALL", "LC_CTYPE"})
"""Of the environment, what Python reads when it starts, before the first line of a program."""
SCRIPT = """#!{python} -IS
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.connect({address!r})
request = os.memfd_create("request")
asked = {{"arguments": [{program!r}, *sys.argv[1:]], "env": dict(os.environ), "directory": os.getcwd()}}
os.write(request, json.dumps(asked).encode())
socket.send_fds(server, [b"run"], [request, 0, 1, 2])
pid = int(server.recv(32))
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, _: os.kill(pid, number))
sys.exit(int(server.recv(32)) % 256)
"""
"""Replaces the installed script where a shell starts it; a signal is passed on."""
_servers: list[tuple[socket.socket, subprocess.Popen[bytes]]] = []
Start = tuple[tuple[str, str], ...]  # of an environment, the variables of AT_START


def run(
    command: Sequence[str | bytes | Path], *, env: Mapping[str, str], stdin: str | None, timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """Run the script `kohort`, first in `command`, as `subprocess.run` does; TimeoutExpired when it does not end."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as typed,
        tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as stdout,
        tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as stderr,
    ):
        typed.write(stdin or "")
        typed.seek(0)
        process = Process(command, env=env, stdin=typed, stdout=stdout, stderr=stderr)
        try:
            status = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        for file in (stdout, stderr):
            file.seek(0)
        # As text is read from a pipe.
        said, complained = (
            file.read().replace("\r\n", "\n").replace("\r", "\n") for file in (stdout, stderr)
        )
    return subprocess.CompletedProcess(process.args, status, said, complained)


class Process:
    """The script `kohort`, first in `command`, as `subprocess.Popen` runs a program; the files are files or pipes."""

    def __init__(
        self,
        command: Sequence[str | bytes | Path],
        *,
        env: Mapping[str, str],
        stdin: IO[Any] | None = None,
        stdout: IO[Any],
        stderr: IO[Any],
    ) -> None:
        self.args = [os.fsdecode(word) for word in command]
        self.returncode: int | None = None
        request = {"arguments": self.args, "env": dict(env), "directory": os.getcwd()}
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._server.connect(_address(_start(env)))
        with tempfile.TemporaryFile("w+") as asked, open(os.devnull) as nothing:
            json.dump(request, asked)
            asked.flush()
            files = [file.fileno() for file in (asked, stdin or nothing, stdout, stderr)]
            socket.send_fds(self._server, [b"run"], files)
        self.pid = int(self._server.recv(32))

    def wait(self, timeout_s: float | None = None) -> int:
        """The exit status; TimeoutExpired if it does not end in time."""
        if self.returncode is None:
            self._server.settimeout(timeout_s)
            try:
                self.returncode = int(self._server.recv(32))
            except (TimeoutError, BlockingIOError) as error:
                raise subprocess.TimeoutExpired(self.args, timeout_s or 0) from error
            self._server.close()
        return self.returncode

    def poll(self) -> int | None:
        """The exit status, None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL, unless it has ended, and wait for the end."""
        self.send_signal(signal.SIGKILL)
        self.wait()


def script(directory: Path, env: Mapping[str, str]) -> None:
    """Write a replacement for `kohort` into `directory`, for the path of a shell with this environment."""
    installed = Path(sys.executable).parent / "kohort"
    text = SCRIPT.format(python=sys.executable, address=_address(_start(env)), program=str(installed))
    stand_in = directory / "kohort"
    stand_in.write_text(text)
    stand_in.chmod(0o755)


def _start(env: Mapping[str, str]) -> Start:
    return tuple(sorted((name, value) for name, value in env.items() if name in AT_START))


@cache
def _address(start: Start) -> str:
    """Where the process to fork from listens, one for environments that begin alike; it ends with this one."""
    address = str(Path(tempfile.mkdtemp(prefix="kohort-forked-")) / "socket")
    ours, theirs = socket.socketpair()
    with theirs, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen(64)
        files = (listener.fileno(), theirs.fileno())
        process = subprocess.Popen(
            # Not `-m`, after which click names the program otherwise.
            [sys.executable, "-c", "from tests.support.forked import serve; serve()", *map(str, files)],
            env={"PATH": "/usr/bin:/bin", **dict(start)},
            cwd=Path(__file__).parents[2],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=files,
        )
    _servers.append((ours, process))
    return address


def end() -> None:
    """End the processes to fork from, so that their time counts as this one's."""
    for lifeline, process in _servers:
        lifeline.close()
        process.wait()
    _servers.clear()
    _address.cache_clear()


def serve() -> None:
    """Import everything, fork for each connection to the listener, and run the command. The arguments number the
    listener and a socket whose other end closes when no more is asked for."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    # A command that has ended ignores Ctrl-C, also one that has run in the process of the tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    _import_all()
    listener, lifeline = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    _fork(listener, lifeline)
    module, _, function = project["scripts"][Path(sys.argv[0]).name].partition(":")
    getattr(importlib.import_module(module), function)()


def _import_all() -> None:
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(path, f"{package}."):
            # What cannot be imported here is for the command that needs it.
            with suppress(ImportError, WireError):
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


def _fork(listener: socket.socket, lifeline: socket.socket) -> None:
    """Fork for each connection; return in a process that is to run the command."""
    while True:
        if lifeline in select.select([listener, lifeline], [], [])[0]:
            _end(listener)
        connection, _ = listener.accept()
        if os.fork():
            connection.close()
            _reap(os.WNOHANG)
            continue
        listener.close()
        lifeline.close()
        _, files, _, _ = socket.recv_fds(connection, 16, len(FILES))
        pid = os.fork()
        if not pid:
            connection.close()
            _become(*files)
            return
        for file in files:
            os.close(file)
        connection.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        with suppress(OSError):  # the test no longer waits
            connection.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)


def _become(request: int, *standard: int) -> None:
    with open(request, encoding="utf-8") as file:
        file.seek(0)
        asked = json.load(file)
    for number, fd in enumerate(standard):
        os.dup2(fd, number)
        os.close(fd)
    # A stream remembers whether its file can seek: the files of the process to fork from can, pipes cannot.
    sys.stdout, sys.stderr = (
        TextIOWrapper(
            BufferedWriter(FileIO(number, "w", closefd=False)),
            encoding=stream.encoding,
            line_buffering=number == sys.stderr.fileno(),
        )
        for number, stream in ((1, sys.stdout), (2, sys.stderr))
    )
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


def _end(listener: socket.socket) -> NoReturn:
    Path(listener.getsockname()).unlink()
    Path(listener.getsockname()).parent.rmdir()
    _reap(0)
    sys.exit()
