"""Each format of one document, with everything that is hard to print, against tests/golden/render.
`KOHORT_WRITE_GOLDEN=1 pytest tests/cli/render` writes the files again; read the difference before you commit it."""

import csv
import io
import json
import os
from pathlib import Path

import pytest
import yaml

from cli.render.document import Checklist, Code, Document, Heading, Table, Text, columns
from cli.render.output_format import OutputFormat
from groups.model import Problem
from tests.cli.render.rendered import rendered

GOLDEN = Path(__file__).parents[2] / "golden" / "render"

NAMES = (
    "plain", "wide-日本語", "emoji-🙂", "combining-e\u0301", "pipe|and\\backslash", "quote\"and,comma",
    "line\nbreak", "tab\there", "\x1b[31mred\x1b[0m", "nul\x00", "\u202eright to left",
    "`code` *star* _line_ <b>", "",
)  # fmt: skip

DOCUMENT = Document(
    command="example",
    data={
        "groups": [
            {"group": name, "type": None, "members": position or None, "owned": {name: [0, 1]}, "on": True}
            for position, name in enumerate(NAMES)
        ]
    },
    blocks=(
        Heading("A title with | and \x1b[1mescapes", level=1),
        Text(
            "A paragraph that is longer than a line of a terminal, so that it must be folded: " + "word " * 20
        ),
        Table(
            columns=columns("GROUP", "#NUMBER", "##MEMBERS", "FLAG", "RATIO"),
            rows=[
                (name, position * 1000, None if position % 3 else position, position % 2 == 0, position / 3)
                for position, name in enumerate(NAMES)
            ],
        ),
        Table(columns=columns("EMPTY", "#TABLE"), rows=()),
        Heading("Steps"),
        Checklist(("Do this | first.", "Then\nthat.")),
        Code(("group.protocol=consumer", "# ünïcode", "# \x1b[2J"), language="properties"),
    ),
    errors=(Problem(subject="a group", message="cannot be read"),),
)


@pytest.mark.parametrize("output", OutputFormat, ids=lambda output: output.value)
def test_every_format_of_one_document(output: OutputFormat) -> None:
    text, file = rendered(DOCUMENT, output), GOLDEN / f"document.{output.value}"
    if os.environ.get("KOHORT_WRITE_GOLDEN") == "1":
        file.write_bytes(text.encode())
    assert text == file.read_bytes().decode()


def test_programs_read_what_was_meant() -> None:
    data = DOCUMENT.as_data()
    assert json.loads(rendered(DOCUMENT, OutputFormat.JSON)) == data
    assert yaml.safe_load(rendered(DOCUMENT, OutputFormat.YAML)) == data
    # Two tables, with an empty line between.
    rows = list(csv.reader(io.StringIO(rendered(DOCUMENT, OutputFormat.CSV), newline="")))
    assert [row[0] for row in rows if len(row) == 5][1:] == list(NAMES)
    assert rows[-2:] == [[], ["EMPTY", "TABLE"]]
