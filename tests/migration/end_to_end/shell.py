"""The shell of the person who follows a plan: `kohort` and Kafka's tools are on its path, nothing else of the tests."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path

from tests.cli.command import Kohort
from tests.kafka.java import java
from tests.support import forked

TIMEOUT_S = 120.0
STOP_S = 30.0

TOOLS: Mapping[str, str] = {
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-configs": "kafka.admin.ConfigCommand",
}
"""Kafka's scripts, by the class that each of them runs."""


class Shell:
    """Runs the commands that a plan prints, in its own directory."""

    def __init__(self, directory: Path, jars: Path) -> None:
        """Make `directory`, and Kafka's scripts in it, `.sh` and without, as packages of Kafka have them."""
        self.directory = directory
        scripts = directory / "bin"
        scripts.mkdir(parents=True)
        for name, main in TOOLS.items():
            for script in (scripts / name, scripts / f"{name}.sh"):
                script.write_text(f'#!/bin/sh\nexec {shlex.join(java(jars, main))} "$@"\n')
                script.chmod(0o755)
        program = shutil.which("java")
        if program is None:
            raise FileNotFoundError("java is not on the path")
        next_to = (str(scripts), str(Path(sys.executable).parent), str(Path(program).parent))
        self.env = {
            "HOME": str(directory),
            "XDG_DATA_HOME": str(directory / "data"),
            "PATH": os.pathsep.join((*next_to, "/usr/bin", "/bin")),
            "LC_ALL": "C.UTF-8",
        }
        forked.script(scripts, self.env)

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", command],
            capture_output=True,
            encoding="utf-8",
            env=self.env,
            cwd=self.directory,
            check=False,
            timeout=TIMEOUT_S,
        )

    def ask(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run one line of `kohort` inside this process: the same words and the same code, without its start."""
        name, *args = shlex.split(command)
        if name != "kohort":
            raise ValueError(command)
        with chdir(self.directory):
            answer = Kohort(self.directory).quick(*args)
        return subprocess.CompletedProcess(command, answer.status, answer.stdout, answer.stderr)

    def start(self, command: str) -> Background:
        return Background(self, command)


class Background:
    """A command that runs until it is stopped."""

    def __init__(self, shell: Shell, command: str) -> None:
        """Start it, its output going to a file."""
        self.said = shell.directory / "background.log"
        with self.said.open("ab") as log:
            # A separate group, so that a signal reaches the processes of the line and nothing else.
            self._process = subprocess.Popen(
                ["sh", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=shell.env,
                cwd=shell.directory,
                start_new_session=True,
            )

    def stop(self) -> None:
        """Press Ctrl-C and wait for the end; ended twice, nothing happens."""
        if self._process.poll() is None:
            # What SIGINT does to a JVM; but where the tests run in the background, SIGINT is ignored.
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.kill()
                raise TimeoutError(f"Ctrl-C did not end it within {STOP_S:g} s:\n{self.tail()}") from None

    def end(self) -> int:
        return self._process.wait(TIMEOUT_S)

    def tail(self, lines: int = 40) -> str:
        """The last lines that it said, those that begin with a blank (configurations) left out."""
        said = self.said.read_text(errors="replace").splitlines()
        return "\n".join([line for line in said if not line[:1].isspace()][-lines:])

    def kill(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
