"""Times of whole processes; commands alternate, so that changes in the machine's speed affect all of them."""

import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The times of one command: seconds of every counted run, and the peak memory.

    Processor time is more reliable than wall time while other work runs on the machine.
    """

    wall_s: tuple[float, ...]
    cpu_s: tuple[float, ...]
    peak_mib: float

    @property
    def median_s(self) -> float:
        return statistics.median(self.wall_s)

    @property
    def median_cpu_s(self) -> float:
        return statistics.median(self.cpu_s)


def side_by_side(
    commands: Sequence[Sequence[str]], *, runs: int = 9, env: Mapping[str, str] | None = None
) -> list[Times]:
    """Run the commands in turn, one warm-up and then `runs` rounds; a command that fails is an error."""
    counted: list[list[tuple[float, float, float]]] = [[] for _ in commands]
    for turn in range(runs + 1):
        for position, command in enumerate(commands):
            run = MeasuredProcess(command, env).wait()
            if turn:
                counted[position].append(run)
    return [_times(each) for each in counted]


def _times(runs: Sequence[tuple[float, float, float]]) -> Times:
    wall_s, cpu_s, peaks_mib = zip(*runs, strict=True)
    return Times(wall_s=wall_s, cpu_s=cpu_s, peak_mib=max(peaks_mib))


_MEASURE = """
import os, sys, time
figures = int(sys.argv[1])
os.set_inheritable(figures, False)
started = time.perf_counter()
_, status, usage = os.wait4(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ), 0)
wall_s, cpu_s = time.perf_counter() - started, usage.ru_utime + usage.ru_stime
line = f"{wall_s} {cpu_s} {usage.ru_maxrss / 1024} {os.waitstatus_to_exitcode(status)}"
os.write(figures, line.encode())
"""
"""A small process that starts the command, as a parent's memory at the fork counts as the command's."""


class MeasuredProcess:
    """A command that runs, with what it and its children use until it ends; stdin and stdout are as in Popen."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        *,
        stdin: int | None = None,
        stdout: int = subprocess.DEVNULL,
    ) -> None:
        executable = shutil.which(command[0]) or command[0]
        self.name = command[0]
        self._errors = os.memfd_create("stderr")
        self._figures, figures = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _MEASURE, str(figures), executable, *command[1:]],
            stdin=stdin,
            stdout=stdout,
            stderr=self._errors,
            pass_fds=(figures,),
            env={**os.environ, **(env or {})},
        )
        os.close(figures)

    def wait(self, statuses: Collection[int] = (0,)) -> tuple[float, float, float]:
        """Wall and processor seconds, and the peak memory in MiB; another exit status is an error."""
        with open(self._errors, "rb") as errors, open(self._figures, encoding="ascii") as figures:
            wall_s, cpu_s, peak_mib, status = figures.read().split()
            self.process.wait()
            if int(status) not in statuses:
                errors.seek(0)
                said = errors.read()[-2000:].decode(errors="replace")
                raise SystemExit(f"{self.name} ended with {status}: {said}")
        return float(wall_s), float(cpu_s), float(peak_mib)


def plain_environment(directory: Path) -> Path:
    """A virtual environment with Kohort and without the dev extra; returns its bin directory."""
    root = Path(__file__).parents[1]
    # Otherwise modules from an earlier build would be installed too, even if they no longer exist.
    shutil.rmtree(root / "build", ignore_errors=True)
    python = directory / "bin" / "python"
    subprocess.run(["python3", "-m", "venv", str(directory)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--constraint", str(root / "constraints.txt"), str(root)], check=True)
    return directory / "bin"
