"""Times of whole processes, two commands in turn, so that a machine that drifts does not decide."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Of one command: wall seconds of every counted run, and the most memory that one of them had."""

    wall_s: tuple[float, ...]
    peak_mib: float

    @property
    def median_s(self) -> float:
        return statistics.median(self.wall_s)


def side_by_side(
    commands: Sequence[Sequence[str]], *, runs: int = 9, env: Mapping[str, str] | None = None
) -> list[Times]:
    """Run the commands in turn, one warm-up and then `runs` rounds; a command that fails is an error."""
    seconds: list[list[float]] = [[] for _ in commands]
    peaks_mib = [0.0 for _ in commands]
    for turn in range(runs + 1):
        for position, command in enumerate(commands):
            wall_s, peak_mib = _run(command, env)
            peaks_mib[position] = max(peaks_mib[position], peak_mib)
            if turn:
                seconds[position].append(wall_s)
    return [
        Times(wall_s=tuple(counted), peak_mib=peak) for counted, peak in zip(seconds, peaks_mib, strict=True)
    ]


def _run(command: Sequence[str], env: Mapping[str, str] | None) -> tuple[float, float]:
    """Wall seconds and the peak of memory in MiB; what it prints goes nowhere."""
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=errors, env={**os.environ, **(env or {})}
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            said = errors.read().decode(errors="replace")
            raise SystemExit(f"{command[0]} ended with {process.returncode}: {said}")
    return wall_s, usage.ru_maxrss / 1024


def plain_environment(directory: Path) -> Path:
    """A virtual environment with Kohort and without the dev extra; returns its bin directory."""
    root = Path(__file__).parents[1]
    # What an earlier build left there would be installed too, modules that are gone among them.
    shutil.rmtree(root / "build", ignore_errors=True)
    python = directory / "bin" / "python"
    subprocess.run(["python3", "-m", "venv", str(directory)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--constraint", str(root / "constraints.txt"), str(root)], check=True)
    return directory / "bin"
