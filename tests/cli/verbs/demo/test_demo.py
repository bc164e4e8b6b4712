"""`kohort demo`: a fleet in a coordinator's own files, and nothing of anybody else's touched."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from coordinator.store.data_directory import DataDirectory
from tests.cli.command import Kohort
from tests.docs.pages import ROOT
from wire.log.batches import encode_batch


def groups(kohort: Kohort, directory: Path) -> dict[str, str]:
    listed = kohort.quick("list --output json --embedded", directory).document
    assert listed["errors"] == []
    return {row["group"]: row["state"] for row in listed["groups"]}


@pytest.fixture
def directory(kohort: Kohort, tmp_path: Path) -> Path:
    """Give a directory with the fleet."""
    assert kohort.quick("demo", tmp_path / "demo").status == 0
    return tmp_path / "demo"


def test_the_fleet_is_there_again_after_force(kohort: Kohort, directory: Path) -> None:
    first = groups(kohort, directory)
    assert len(first) == 10
    kept = directory / "notes.txt"
    kept.write_text("mine")
    (directory / "orders-0" / "partition.metadata").unlink()
    assert kohort.quick("demo --force", directory).status == 0
    assert groups(kohort, directory) == first
    assert kept.read_text() == "mine"


def test_a_broker_keeps_its_records(kohort: Kohort, directory: Path) -> None:
    segment = directory / "orders-0" / "00000000000000000000.log"
    segment.write_bytes(encode_batch([(b"k", b"v")], base_offset=0, timestamp=0))
    answer = kohort.quick("demo --force", directory)
    answer.assert_refused(f"{directory}/orders-0 holds records of a broker", status=3)
    assert groups(kohort, directory)["billing"] == "Stable"
    assert segment.exists()


def test_a_directory_in_use_is_left_alone(kohort: Kohort, directory: Path) -> None:
    with closing(DataDirectory.open(directory)):
        kohort.quick("demo --force", directory).assert_refused(str(directory), status=3)
        assert groups(kohort, directory)["billing"] == "Stable"


def test_a_directory_that_cannot_be_made(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    kohort.quick("demo", file / "below").assert_refused(str(file / "below"), status=3)


def test_the_demonstration_comes_to_its_end() -> None:
    """`make demo`: every command ends with the status that the script expects of it."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(
        ["sh", "docs/demo.sh"],
        cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
