"""`kohort demo`: a fleet in a coordinator's own files, and nothing of anybody else's touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from coordinator.store.data_directory import DataDirectory
from tests.cli.command import Kohort
from wire.log.batches import encode_batch


def groups(kohort: Kohort, directory: Path) -> dict[str, str]:
    listed = json.loads(kohort("list", "--embedded", directory, "--output", "json").stdout)
    assert listed["errors"] == []
    return {row["group"]: row["state"] for row in listed["groups"]}


def test_the_fleet_is_there_again_after_force(kohort: Kohort, tmp_path: Path) -> None:
    directory = tmp_path / "demo"
    assert kohort("demo", directory).status == 0
    first = groups(kohort, directory)
    assert len(first) == 10
    kept = directory / "notes.txt"
    kept.write_text("mine")
    (directory / "orders-0" / "partition.metadata").unlink()
    assert kohort("demo", directory, "--force").status == 0
    assert groups(kohort, directory) == first
    assert kept.read_text() == "mine"


def test_a_broker_keeps_its_records(kohort: Kohort, tmp_path: Path) -> None:
    directory = tmp_path / "data"
    assert kohort("demo", directory).status == 0
    segment = directory / "orders-0" / "00000000000000000000.log"
    segment.write_bytes(encode_batch([(b"k", b"v")], base_offset=0, timestamp=0))
    answer = kohort("demo", directory, "--force")
    assert (answer.status, answer.stdout) == (3, "")
    assert f"{directory}/orders-0 holds records of a broker" in answer.stderr
    assert groups(kohort, directory)["billing"] == "Stable"
    assert segment.exists()


def test_a_directory_in_use_is_left_alone(kohort: Kohort, tmp_path: Path) -> None:
    directory = tmp_path / "data"
    assert kohort("demo", directory).status == 0
    data = DataDirectory.open(directory)
    try:
        answer = kohort("demo", directory, "--force")
        assert (answer.status, answer.stdout) == (3, "")
        assert str(directory) in answer.stderr
        assert "Traceback" not in answer.stderr
        assert groups(kohort, directory)["billing"] == "Stable"
    finally:
        data.close()


def test_a_directory_that_cannot_be_made(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    answer = kohort("demo", file / "below")
    assert (answer.status, answer.stdout) == (3, "")
    assert str(file / "below") in answer.stderr


def test_the_demonstration_comes_to_its_end() -> None:
    """`make demo`: every command ends with the status that the script expects of it."""
    root = Path(__file__).parents[4]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(
        ["sh", "docs/demo.sh"],
        cwd=root,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
