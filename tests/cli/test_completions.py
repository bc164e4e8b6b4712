"""The completion scripts in the repository are the ones that the command would print."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = {"bash": "kohort.bash", "zsh": "_kohort", "fish": "kohort.fish"}


@pytest.mark.parametrize("shell", FILES)
def test_scripts_are_not_stale(shell: str) -> None:
    kohort = Path(sys.executable).parent / "kohort"
    env = {**os.environ, "_KOHORT_COMPLETE": f"source_{shell}"}
    run = subprocess.run([kohort], env=env, capture_output=True, text=True, check=True)
    assert (ROOT / "completions" / FILES[shell]).read_text() == run.stdout, "run `make completions`"


def test_bash_completes_a_verb() -> None:
    kohort = Path(sys.executable).parent / "kohort"
    env = {**os.environ, "_KOHORT_COMPLETE": "complete_bash", "COMP_WORDS": "kohort dry", "COMP_CWORD": "1"}
    run = subprocess.run([kohort], env=env, capture_output=True, text=True, check=False)
    assert run.stdout.split() == ["dry-run"]
