"""What the README shows was really printed: every console block is run again on the sample.

KOHORT_WRITE_GOLDEN=1 writes what is printed into the README instead.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^(```+)console\n(.*?)^\1$", re.S | re.M)


def blocks() -> list[str]:
    return [match.group(2) for match in BLOCK.finditer((ROOT / "README.md").read_text())]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose data directory holds the sample."""
    scripts = str(Path(sys.executable).parent)
    home = str(tmp_path_factory.mktemp("data"))
    env = {**os.environ, "XDG_DATA_HOME": home, "PATH": f"{scripts}:{os.environ['PATH']}"}
    subprocess.run(["kohort", "demo"], env=env, check=True, capture_output=True)
    return env


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block.partition("\n")[0])
def test_the_readme_shows_what_is_printed(block: str, sample: dict[str, str]) -> None:
    commands = re.findall(r"^\$ (.*)$", block, re.M)
    printed = ""
    for command in commands:
        run = subprocess.run(command, shell=True, env=sample, capture_output=True, text=True, check=False)
        assert "Traceback" not in run.stderr
        printed += f"$ {command}\n{run.stdout}"
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        readme = ROOT / "README.md"
        readme.write_text(readme.read_text().replace(block, printed))
        return
    assert block == printed


def test_the_main_job_is_shown() -> None:
    shown = " ".join(blocks())
    for verb in ("list", "describe", "validate-regex", "dry-run", "plan"):
        assert f"$ kohort {verb}" in shown
