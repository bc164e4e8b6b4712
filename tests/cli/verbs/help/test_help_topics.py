"""`kohort help`: every page fits a terminal, points to pages that exist, and shows commands that work."""

import shlex
from pathlib import Path

import pytest

from cli.verbs.help.command import commands_in, links_in, page_names, page_source, plain, terms, title_of
from tests.cli.command import Kohort, command_names
from tests.docs.test_commands import parses

PAGES = page_names()
NOT_ON_THE_SAMPLE = ("-b", "--log-dir", "--context", "PLAN.yaml", "context", "import", "config")
"""Words of commands that need more than the sample fleet."""
STATUS = {
    "kohort validate-regex '^(?!audit).*'": 1, "kohort validate-regex --from java '(?!audit).*'": 1,
    "kohort validate-regex --from librdkafka '^audit'": 1, "kohort plan --all-groups --to consumer": 1,
    "kohort plan legacy-etl --to consumer --client java:4.1.0": 1, "kohort describe no-such-group": 3,
}  # fmt: skip
"""What is not 0, and is said to be so."""
COMMANDS = [(page, command) for page in PAGES for command in commands_in(page_source(page))]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_links_to_others_and_shows_commands(page: str) -> None:
    lines = plain(page_source(page)).splitlines()
    assert max(map(len, lines)) <= 80
    assert 15 <= len(lines) <= 42
    assert not any(mark in line for line in lines for mark in ("```", "](", "`"))
    links = set(links_in(page_source(page)))
    assert links
    assert links <= set(PAGES) - {page}
    assert commands_in(page_source(page))


@pytest.mark.parametrize(
    ("page", "command"), COMMANDS, ids=[f"{page}: {command}" for page, command in COMMANDS]
)
def test_a_command_works(kohort: Kohort, sample: Path, page: str, command: str) -> None:
    program, *words = shlex.split(command)
    assert program == "kohort"
    if set(words) & set(NOT_ON_THE_SAMPLE):
        parses(words)
        return
    answer = kohort.quick(*words, "--embedded", sample)
    assert answer.status == STATUS.get(command, 0), answer.stderr
    assert not answer.traceback


@pytest.mark.parametrize("page", PAGES)
def test_every_form_of_a_page(kohort: Kohort, page: str) -> None:
    text, markdown, document = (
        kohort.quick("help", page, "--output", form) for form in ("text", "markdown", "json")
    )
    assert (text.status, markdown.status, document.status) == (0, 0, 0)
    assert text.stdout == kohort.quick("help", page).stdout == plain(page_source(page))
    assert markdown.stdout == page_source(page)
    (topic,) = document.document["topics"]
    assert (topic["topic"], topic["title"]) == (page, title_of(page_source(page)))


def test_the_topics_are_listed(kohort: Kohort) -> None:
    answer = kohort.quick("help").succeeded()
    assert [line.split()[0] for line in answer.stdout.splitlines() if line.startswith("  ")] == PAGES
    assert max(map(len, answer.stdout.splitlines())) <= 80
    document = kohort.quick("help --output json").document
    assert [topic["topic"] for topic in document["topics"]] == PAGES
    assert kohort.quick("help --output markdown").stdout.count("kohort help ") == len(PAGES)


@pytest.mark.parametrize(
    ("words", "title"), [("target assignment", "Target assignment"), ("bounce", "Bounce")]
)
def test_help_explains_a_term(kohort: Kohort, words: str, title: str) -> None:
    source = terms()[words.replace(" ", "-")]
    assert kohort.quick(f"help {words}").stdout == plain(source)
    assert kohort.quick(f"help {words} --output markdown").stdout == source
    (topic,) = kohort.quick(f"help {words} --output json").document["topics"]
    assert (topic["title"], topic["see_also"]) == (title, links_in(source))


@pytest.mark.parametrize("command", command_names())
def test_help_of_a_command_is_its_own(kohort: Kohort, command: str) -> None:
    answer = kohort.quick(f"help {command}").succeeded(stderr="")
    assert answer == kohort.quick(f"{command} --help")
    assert f"Usage: kohort {command} " in answer.stdout.splitlines()[0]
    assert max(map(len, answer.stdout.splitlines())) <= 80


def test_words_of_a_topic(kohort: Kohort) -> None:
    assert kohort.quick("help two bounces").stdout == kohort.quick("help Two-Bounces").stdout
    assert "  reset " in kohort.quick("help offsets").stdout
    # A command of two words comes before a topic of the same.
    assert "kohort offsets reset [" in kohort.quick("help offsets reset").stdout


def test_a_strange_name_is_refused(kohort: Kohort) -> None:
    answer = kohort.quick("help", "xyzzy\x1b[31m")
    answer.assert_refused("kohort help")
    assert ("did you mean" in answer.stderr, "\x1b" in answer.stderr) == (False, False)
    kohort.quick("help list --output json").assert_refused("its help is printed as text only")


def test_the_document_contains_every_command_with_its_options(kohort: Kohort) -> None:
    commands = {
        command["command"]: command for command in kohort.quick("help --output json").document["commands"]
    }
    assert sorted(commands) == command_names()
    parameters = {one["name"]: one for one in commands["plan"]["parameters"]}
    assert "cooperative" in parameters["to"]["choices"]
    assert (parameters["to"]["required"], parameters["groups"]["options"]) == (True, [])
    assert parameters["seeds"] == {
        "name": "seeds", "options": ["--seeds"], "type": "integer", "metavar": "N", "choices": None, "minimum": 1,
        "maximum": 1_000_000, "required": False, "repeatable": False, "default": 10, "panel": None,
        "summary": "Number of seeds with --rehearse.",
    }  # fmt: skip
    assert "commands" not in kohort.quick("help epochs --output json").document
