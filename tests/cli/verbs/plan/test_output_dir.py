"""`kohort plan --output-dir`: a file for each group, and what is not overwritten."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.verbs.plan.directory import LONGEST, file_names
from cli.verbs.plan.files import read_plan
from tests.cli.command import Answer, Kohort


def _written(kohort: Kohort, sample: Path, directory: Path, *options: str) -> Answer:
    line = ("plan", "--to", "consumer", "--embedded", sample, "--output-dir", directory)
    return kohort.quick(*line, *(options or ("--all-groups",)))


def _billing(kohort: Kohort, sample: Path) -> str:
    """The plan of one group, on stdout."""
    return kohort.quick("plan billing --to consumer --output yaml --embedded", sample).stdout


def test_every_group_gets_a_file_that_holds_its_plan(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    directory = tmp_path / "new" / "PLANS"
    answer = _written(kohort, sample, directory, "--all-groups", "--output", "json")
    assert answer.status == 1  # some are blocked
    rows = answer.document["written"]
    listed = kohort.quick("list", "--embedded", sample, "--output", "csv").rows
    assert [row["group"] for row in rows] == [row["GROUP"] for row in listed]
    for row in rows:
        plan = read_plan(Path(row["file"]))
        assert [plan.group, plan.verdict.value, len(plan.steps)] == [
            row[name] for name in ("group", "verdict", "steps")
        ]
    assert {file.name for file in directory.iterdir()} == {f"{row['group']}.yaml" for row in rows}
    assert (directory / "billing.yaml").read_text() == _billing(kohort, sample)


def test_the_table_ends_with_how_many_can_begin(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    answer = _written(kohort, sample, tmp_path)
    summary = "Wrote 10 plans: 5 with warnings, 2 blocked, 1 with an unknown library, 2 with nothing to do."
    assert " ".join(answer.stdout.split()).endswith(summary)
    assert answer.stderr.count("--client-config FILE") == 1
    _written(kohort, sample, tmp_path, "billing", "--rehearse", "--seeds", "1").succeeded()
    assert read_plan(tmp_path / "billing.yaml").rehearsal is not None


@pytest.mark.parametrize(
    ("texts", "reasons"),
    [
        ({"fraud.yaml": "group: ["}, ["fraud.yaml exists, and cannot be read as a plan"]),
        (
            {"fraud.yaml": "{billing}", "audit.yaml": "a: b"},
            ["the plan of billing, not of fraud", "audit.yaml exists"],
        ),
    ],
)
def test_a_file_of_something_else_is_not_overwritten(
    kohort: Kohort, sample: Path, tmp_path: Path, texts: dict[str, str], reasons: list[str]
) -> None:
    before = {name: text.replace("{billing}", _billing(kohort, sample)) for name, text in texts.items()}
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    _written(kohort, sample, tmp_path).assert_refused("nothing was written", *reasons)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == before


def test_a_plan_that_is_being_carried_out_is_not_replaced(
    kohort: Kohort, sample: Path, tmp_path: Path
) -> None:
    _written(kohort, sample, tmp_path, "billing").succeeded()
    file = tmp_path / "billing.yaml"
    kohort.quick("gate", file, "--step", "0", "--embedded", sample).succeeded()
    _written(kohort, sample, tmp_path, "billing").assert_refused("billing.yaml is being carried out")
    file.with_name("billing.yaml.gates").unlink()
    _written(kohort, sample, tmp_path, "billing").succeeded()


def test_a_directory_that_cannot_be_created(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    _written(kohort, sample, tmp_path / "file" / "PLANS").assert_refused("cannot be created", status=3)


@given(st.lists(st.text(min_size=1, max_size=80), unique=True, max_size=8))
def test_names_of_files_are_safe_and_differ(groups: list[str]) -> None:
    names = file_names([*groups, "A/b", "a/B", "..", "-x", "ü" * 300])
    assert len({name.casefold() for name in names.values()}) == len(names)
    for name in names.values():
        assert not set(name) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-%~")
        assert not name.startswith((".", "-"))
        assert len(name) <= LONGEST + 20
    assert names["A/b"].startswith("A%2Fb~")
