"""A snapshot as a source. Broken files are in tests/cli/mistakes."""

import os
from pathlib import Path

import pytest

from tests.cli.command import Kohort


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text("kohort: 1\n")
    file.chmod(0)
    kohort.quick("list --snapshot", file).assert_refused(
        f"{file}: cannot be read: Permission denied\n", status=3
    )


@pytest.mark.parametrize("output", ["table", "json", "yaml", "csv", "markdown"])
def test_a_missing_group_is_reported_with_the_others(kohort: Kohort, sample: Path, output: str) -> None:
    both, alone = (
        kohort.quick(f"describe {groups} --state --output {output} --embedded", sample)
        for groups in ("billing missing", "missing")
    )
    for answer in (both, alone):
        assert answer.status == 3
        assert answer.stderr.startswith("kohort: missing: no such group in ")
        assert ("missing" in answer.stdout) == (output in ("json", "yaml"))
    assert "billing" in both.stdout
    assert bool(alone.stdout) == (output in ("json", "yaml"))
    if output == "json":
        assert [group["group"] for group in both.document["groups"]] == ["billing"]
        assert [error["subject"] for error in both.document["errors"]] == ["missing"]


def test_an_unknown_field_is_passed_over_and_named(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "later.yaml"
    file.write_text("kohort: 1\ngroups:\n  g:\n    flavor: vanilla\n")
    said = f"kohort: {file}:4: groups.g.flavor: unknown field, not read\n"
    assert kohort.quick("list --output csv --snapshot", file).succeeded(stderr=said).rows[0]["GROUP"] == "g"
