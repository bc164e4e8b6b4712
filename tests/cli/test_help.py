"""Help: every command has it, and it costs no more than it must."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer.main

from cli.app import OVERVIEW, app
from cli.command_tree import summary
from cli.commands import SECTIONS
from tests.cli.command import Kohort, command_names, commands, imported, running
from tests.docs.pages import command_lines
from tests.docs.test_commands import parses

COMMANDS = command_names()
HEAVY = (
    "confluent_kafka", "numpy", "yaml", "kio", "re2", "asyncio", "rich.console", "pyspark", "pyarrow", "pipeline",
    "textual",
)  # fmt: skip
FAMILIES = sorted({name.partition(" ")[0] for name in COMMANDS if " " in name})
OVERVIEW_JOBS = [line[line.index("kohort ") + 7 :] for line in OVERVIEW.splitlines() if line.startswith("  ")]
EXAMPLES = [
    (name, words)
    for name, command in commands().items()
    for line in command.help.splitlines()
    if line.startswith("  ")
    for words in command_lines(line)
    if words[: len(name.split())] == name.split()
]
"""The lines of each command's help that run this command."""
ON_THE_SAMPLE = (
    "delete", "describe", "diagnose", "dry-run", "exporter", "list", "offsets delete", "offsets export",
    "offsets reset", "plan", "validate-regex",
)  # fmt: skip
"""Commands whose examples without `-b` run on the sample; the others need a file, a context or a long time."""
OF_HEAVY_VERBS = (
    "", "list", "dry-run", "log dump", "fleet history", "fleet audit", "fleet follow", "fleet simulate",
)  # fmt: skip


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_lists_every_command_under_a_heading(kohort: Kohort, flag: str) -> None:
    lines = kohort.quick(flag).succeeded(stderr="").stdout.splitlines()
    for heading, commands_below in SECTIONS.items():
        below = lines[lines.index(f"{heading}:") + 1 :]
        assert [line.split()[0] for line in below[: len(commands_below)]] == list(commands_below)


@pytest.mark.parametrize("family", ["", *FAMILIES])
def test_no_list_of_commands_shortens_a_summary(kohort: Kohort, family: str) -> None:
    assert "..." not in kohort.quick(f"{family} --help").succeeded(stderr="").stdout


def test_without_arguments_there_are_five_jobs(kohort: Kohort) -> None:
    answer = kohort.quick()
    assert (answer.status, answer.stdout, answer.stderr) == (2, "", OVERVIEW)
    assert len(OVERVIEW.splitlines()) <= 15
    assert len(OVERVIEW_JOBS) == 5


@pytest.mark.parametrize("job", OVERVIEW_JOBS)
def test_a_job_of_the_overview_works_on_the_sample(kohort: Kohort, sample: Path, job: str) -> None:
    line = job.replace("-b HOST:PORT", "").replace("GROUP", "clickstream")
    answer = kohort.quick(line, "--embedded", sample)
    assert (answer.status in (0, 1), answer.traceback) == (True, False), answer


@pytest.mark.parametrize("family", FAMILIES)
def test_without_a_second_word_there_is_help(kohort: Kohort, family: str) -> None:
    answer = kohort.quick(family)
    assert (answer.status, answer.stdout) == (2, "")
    assert answer.stderr == kohort.quick(family, "--help").stdout


def test_every_option_is_explained() -> None:
    for name, command in _all_commands().items():
        parameters = (parameter for parameter in command.params if parameter.name != "help")
        assert [parameter.name for parameter in parameters if not getattr(parameter, "help", None)] == [], (
            name
        )


def _all_commands() -> dict[str, Any]:
    root: Any = typer.main.get_command(app)
    return {**root.commands, **commands()}


def test_a_summary_is_one_short_sentence() -> None:
    for name, command in _all_commands().items():
        text = summary(command)
        assert len(text) <= 55, name
        assert text.endswith("."), name
        assert ". " not in text, name


def test_help_fits_80_columns() -> None:
    for name, command in _all_commands().items():
        context = command.context_class(command, info_name=f"kohort {name}", terminal_width=78)
        assert max(map(len, command.get_help(context).splitlines())) <= 80, name


def test_options_of_the_source_and_the_output_come_last(kohort: Kohort) -> None:
    lines = kohort.quick("plan --help").succeeded().stdout.splitlines()
    headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings == [
        "Arguments:", "Options:", "Client libraries of the members:", "Selection of groups:", "Source of groups:",
        "Several clusters:", "Output:",
    ]  # fmt: skip


def test_every_command_has_an_example() -> None:
    assert {name for name, _ in EXAMPLES} == set(COMMANDS)


@pytest.mark.parametrize(("name", "words"), EXAMPLES, ids=[" ".join(words) for _, words in EXAMPLES])
def test_an_example_works(
    kohort: Kohort, sample: Path, name: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert words[: len(name.split())] == name.split()
    parses(words)
    if name in ON_THE_SAMPLE and not {"-b", "--compare", "--execute"} & set(words):
        answer = kohort.quick(*words, "--embedded", sample)
        assert (answer.status in (0, 1), answer.traceback) == (True, False), answer


def test_version(kohort: Kohort) -> None:
    assert kohort.quick("--version").succeeded(stderr="").stdout == f"kohort {version('kohort')}\n"


@pytest.mark.parametrize("line", [f"{command} --help" for command in OF_HEAVY_VERBS] + ["--version"])
def test_help_imports_nothing_heavy(line: str) -> None:
    loaded, answer = imported(HEAVY, running(*line.split()))
    assert (loaded, answer.status) == ([], 0)
