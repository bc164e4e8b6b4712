"""`--columns`, `--sort` and `--no-header` with every command that prints a table."""

import csv
import io
from pathlib import Path

import pytest

from tests.cli.command import Kohort, commands
from tests.cli.offset_rig import OffsetRig
from tests.cli.schemas import schema_names, schema_of

OPTIONS = {"--columns", "--sort", "--no-header"}
OWN_LAYOUT = {"fleet-follow", "log-dump", "watch", "help"}
"""They print while they read, a record or an event at a time, or a text."""
QUESTIONS = (
    "list",
    *(f"describe --all-groups{mode}" for mode in ("", " --totals --last-commit", " --members --verbose")),
    *(f"describe --all-groups {mode}" for mode in ("--state", "--migration")),
    "validate-regex .* ^a a**",
    *(f"dry-run checkout {what_if}" for what_if in ("--add 2", "--compare")),
    "plan checkout --to cooperative",
    "plan --all-groups --to consumer",
)

Tables = list[list[list[str]]]


def tables(text: str) -> Tables:
    """The tables of CSV, which stand behind empty lines."""
    blocks: Tables = [[]]
    for row in csv.reader(io.StringIO(text)):
        if row:
            blocks[-1].append(row)
        else:
            blocks.append([])
    return blocks


def check(kohort: Kohort, question: str, *source: str | Path) -> None:
    """What the options print is what can be made of the whole table."""
    whole = kohort.quick(question, *source, "--output", "csv")
    assert not whole.traceback, whole.stderr
    bare = kohort.quick(question, *source, "--output", "csv", "--no-header")
    assert tables(bare.stdout) == [table[1:] for table in tables(whole.stdout)]
    assert (bare.status, bare.stderr) == (whole.status, whole.stderr)
    first = tables(whole.stdout)[0]
    assert first, (question, whole.stderr)
    names = first[0]
    # One of them twice, the last one first, in other letters.
    chosen = [names[-1].lower(), names[0], names[-1]]
    narrow = kohort.quick(question, *source, "--output", "csv", "--columns", ",".join(chosen))
    assert narrow.status == whole.status, narrow.stderr
    assert tables(narrow.stdout)[0] == [[row[-1], row[0], row[-1]] for row in first]
    for output in ("table", "markdown", "html"):
        answer = kohort.quick(
            question, *source, "--output", output, "--columns", names[0], "--sort", names[0]
        )
        assert (answer.status, names[0].strip("#") in answer.stdout) == (whole.status, True), answer.stderr
    wrong = kohort.quick(question, *source, "--columns", "NO-SUCH-COLUMN")
    wrong.assert_refused(f"there is no column 'NO-SUCH-COLUMN'; there are {names[0]}")


@pytest.mark.parametrize("question", QUESTIONS)
def test_on_the_sample(kohort: Kohort, sample: Path, question: str) -> None:
    check(kohort, question, "--embedded", sample)


@pytest.mark.kafka
def test_a_wrong_column_changes_nothing(rig: OffsetRig) -> None:
    topic = rig.topic([4])
    group = rig.group({(topic, 0): 1})
    reset = f"offsets reset {group} --all-topics --to-latest --execute --yes"
    for option in ("--columns NONE", "--sort NONE", "--columns GROUP,", "--sort GROUP:up"):
        rig.ours(f"{reset} {option}", output="table").assert_refused()
    assert rig.committed(group) == {(topic, 0): 1}
    done = rig.ours(reset, "--columns", "PARTITION,TOPIC", "--no-header", output="table")
    assert (done.status, done.stdout.split()) == (0, ["0", topic])
    assert rig.committed(group) == {(topic, 0): 4}


def test_every_command_with_a_table_has_them() -> None:
    having = {
        schema_of(name)
        for name, command in commands().items()
        if {option for parameter in command.params for option in parameter.opts} >= OPTIONS
    }
    assert having >= set(schema_names()) - OWN_LAYOUT
