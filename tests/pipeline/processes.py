"""Programs that work with Spark in a separate process, and the files that they leave."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.kafka.wait import wait_until
from tests.support.signals import handled_interrupts

MARK = "KOHORT_TEST_PROGRAM"  # the variable by which the children of a program are known
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    status: int
    stdout: str
    stderr: str


class Program:
    """A Python program with its own working directory and directory for temporary files."""

    def __init__(
        self,
        directory: Path,
        source: str,
        *,
        command: Sequence[str] = (sys.executable,),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.mark = str(directory)
        self.temporary, self.work = directory / "tmp", directory / "work"
        for folder in (self.temporary, self.work):
            folder.mkdir(parents=True)
        script = directory / "program.py"
        script.write_text(source, encoding="utf-8")
        environment = {MARK: self.mark, "TMPDIR": str(self.temporary), "PYTHONPATH": str(ROOT)}
        self._out, self._err = directory / "stdout", directory / "stderr"
        with self._out.open("wb") as out, self._err.open("wb") as err, handled_interrupts():
            self.process = subprocess.Popen(
                [*command, str(script)],
                cwd=self.work,
                env=os.environ | environment | dict(variables or {}),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,  # as a shell gives every job a process group
            )

    def wait_for(self, text: str) -> None:
        wait_until(
            lambda: text in self._out.read_text() or self.process.poll() is not None,
            lambda: f"{text} in {self._out.read_text()} {self._err.read_text()}",
        )
        assert text in self._out.read_text(), self._err.read_text()

    def press(self, number: signal.Signals) -> None:
        """Send a signal to it and all in its group, as a terminal does."""
        os.killpg(self.process.pid, number)

    def end(self, timeout_s: float = 180.0) -> Ended:
        status = self.process.wait(timeout_s)
        return Ended(status=status, stdout=self._out.read_text(), stderr=self._err.read_text())

    def living(self) -> dict[int, str]:
        """The command lines of the processes that it began and that live, by process id; itself among them."""
        processes = {}
        for process in Path("/proc").iterdir():
            if not process.name.isdigit():
                continue
            try:
                if f"{MARK}={self.mark}\0".encode() in (process / "environ").read_bytes():
                    line = (process / "cmdline").read_bytes().replace(b"\0", b" ")
                    processes[int(process.name)] = line.decode(errors="replace")
            except OSError:  # it has gone, or is somebody else's
                continue
        return processes

    def wait_gone(self) -> None:
        wait_until(lambda: not self.living(), lambda: f"the end of {self.living()}", timeout_s=20.0)

    def left_behind(self) -> list[str]:
        return sorted(str(path) for folder in (self.temporary, self.work) for path in folder.rglob("*"))

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for process in self.living():
            os.kill(process, signal.SIGKILL)
