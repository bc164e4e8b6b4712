"""Times of whole processes, two commands in turn, so that a machine that drifts does not decide."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Of one command: wall seconds of every counted run."""

    wall_s: tuple[float, ...]

    @property
    def median_s(self) -> float:
        return statistics.median(self.wall_s)


def side_by_side(
    commands: Sequence[Sequence[str]], *, runs: int = 9, env: Mapping[str, str] | None = None
) -> list[Times]:
    """Run the commands in turn, one warm-up and then `runs` rounds; a command that fails is an error."""
    seconds: list[list[float]] = [[] for _ in commands]
    for turn in range(runs + 1):
        for position, command in enumerate(commands):
            wall = _run(command, env)
            if turn:
                seconds[position].append(wall)
    return [Times(wall_s=tuple(counted)) for counted in seconds]


def _run(command: Sequence[str], env: Mapping[str, str] | None) -> float:
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, env={**os.environ, **(env or {})}, check=False)
    wall = time.perf_counter() - started
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {said}")
    return wall


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
