"""Every option and argument of every command: what an empty value of it means, and that it is refused if nothing."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.errors import UsageError
from tests.cli.command import Kohort, commands

IDS = ["GROUP", "FROM", "TO", "MEMBER", "ID", "CLIENT"]
"""Kafka takes an id of blanks from a client; an empty one selects nothing here."""
NAMED = [
    "COMMAND", "CONTEXT", "DIR", "DURATION", "ERROR", "FILE", "HOST", "HOST:PORT", "HOST[:PORT]", "KEY", "N", "NAME",
    "NAME[:PARTITIONS]", "NEW", "OFFSET|TIME", "PATTERN", "PLAN", "PREFIX", "RACK", "REGEX", "RELEASE", "RULE",
    "SCENARIO", "SIZE", "STEP.ROUND", "TEXT", "TIME", "TOPIC", "TOPIC:PARTITION", "TOPIC[:0,1]", "URL", "WINDOW",
    "WORLD", "[HOST:]PORT", "stable|empty|EPOCH",
]  # fmt: skip
LISTS = [
    "A,B,…",
    "COLUMN[:desc],…",
    "HOST:PORT,…",
    "JAR,…",
    "NAME,…",
    "PROTOCOL,…",
    "STATE,…",
    "TOPIC,…",
    "TYPE,…",
]
PAIRS = [
    "FEATURE=LEVEL",
    "KEY=FILE",
    "KEY=VARIABLE",
    "MEMBER=RACK",
    "SOURCE=TARGET",
    "TOPIC=N",
    "MEMBER=TOPIC,…",
]
PAIRS_OR_ONE = ["[MEMBER=]LIBRARY[:VERSION]", "[MEMBER|LIBRARY=]FILE"]
SETTINGS = ["KEY=VALUE", "NAME=VALUE", "NAME=VALUE,…"]
"""A setting may have an empty value: `ssl.endpoint.identification.algorithm=`. Its name may not be empty."""
STATED = {*IDS, *NAMED, *LISTS, *PAIRS, *PAIRS_OR_ONE, *SETTINGS}
COMMANDS = commands()
SNAPSHOT = """
kohort: 1
topics: {t: {partitions: 1, end_offsets: {0: 5}}}
groups:
  " ": {type: classic, state: Empty, protocol_type: consumer, offsets: {t: {0: {offset: 1}}}}
  "": {type: classic, state: Empty, protocol_type: consumer, offsets: {t: {0: {offset: 1}}}}
"""


def parameters() -> Iterator[tuple[str, Any, str]]:
    """The command, each of its parameters that takes a value, and the form of the value."""
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if not getattr(parameter, "is_flag", False):
                yield name, parameter, form(parameter.metavar or "")


def form(metavar: str) -> str:
    """A metavar without the brackets and dots around it: `[GROUP]…`."""
    bare = metavar.removesuffix("…") if not metavar.endswith(",…") else metavar
    whole = re.fullmatch(r"\[([^\[\]]+)\]", bare)
    return whole[1] if whole else bare


def is_text(parameter: Any) -> bool:
    """Whether the value is more than a number or one of some words."""
    return type(parameter.type).__name__ in ("StringParamType", "TyperPath")


def test_every_option_and_argument_states_what_empty_means() -> None:
    forms = {(name, shape) for name, parameter, shape in parameters() if is_text(parameter)}
    assert {(name, shape) for name, shape in forms if shape not in STATED} == set()
    assert STATED - {shape for _, shape in forms} == set()


def follows_another(command: str, parameter: Any) -> bool:
    """Whether it is an argument after the first one, to which words go."""
    arguments = [param for param in COMMANDS[command].params if param.param_type_name == "argument"]
    return parameter in arguments[1:]


def typed(parameter: Any, value: str) -> list[str]:
    option = max(parameter.opts, key=len)
    if parameter.param_type_name == "argument":
        return ["--", value]
    if parameter.nargs > 1 or not option.startswith("--"):
        return [option, *[value] * parameter.nargs]
    return [f"{option}={value}"]


def test_an_empty_value_is_refused_by_every_option_and_argument() -> None:
    for command, parameter, _ in parameters():
        if follows_another(command, parameter):
            continue
        with pytest.raises(UsageError, match="no value is given"):
            COMMANDS[command].make_context(command, typed(parameter, ""))


def test_blanks_and_nul_are_refused_by_every_form(kohort: Kohort) -> None:
    for shape, (command, parameter) in first_by_form().items():
        kohort.quick(command, *typed(parameter, "a\0b")).assert_refused("a NUL character is invalid")
        if shape not in IDS:
            kohort.quick(command, *typed(parameter, " ")).assert_refused("no value is given")


def first_by_form() -> dict[str, tuple[str, Any]]:
    return {
        shape: (command, parameter)
        for command, parameter, shape in parameters()
        if is_text(parameter) and not follows_another(command, parameter)
    }


PARTS = [
    *[(shape, value) for shape in LISTS for value in (",", "a,", ",a", "a,,b", "a, ,b")],
    *[(shape, value) for shape in (*PAIRS, *PAIRS_OR_ONE) for value in ("=x", " =x", "x=")],
    *[(shape, "=x") for shape in SETTINGS],
    ("MEMBER=TOPIC,…", "a=b,,c"),
]


def test_an_empty_part_is_refused_by_every_form(kohort: Kohort) -> None:
    for shape, value in PARTS:
        command, parameter = first_by_form()[shape]
        answer = kohort.quick(command, *typed(parameter, value))
        answer.assert_refused("has an empty part" if "=" not in value or "," in value else "has nothing")


@pytest.fixture
def blank(tmp_path: Path) -> Path:
    """Give a snapshot of a group whose id is a blank, and one whose id is empty."""
    file = tmp_path / "blank.yaml"
    file.write_text(SNAPSHOT)
    return file


def test_an_id_of_blanks_is_a_group_and_a_setting_may_be_empty(kohort: Kohort, blank: Path) -> None:
    kohort.quick("describe", " ", "--snapshot", blank).succeeded()
    kohort.quick("simulate --list --set a=").succeeded()


@pytest.mark.parametrize(
    "question",
    [
        "list", "list --output markdown", "list --output html",
        "describe --all-groups", "diagnose --all-groups", "plan --all-groups --to consumer", "delete --all-groups",
        "offsets reset --all-groups --topic t --to-earliest", "dry-run --all-groups",
    ],
)  # fmt: skip
def test_a_blank_id_is_quoted_in_every_text(kohort: Kohort, blank: Path, question: str) -> None:
    answer = kohort.quick(question, "--snapshot", blank)
    text = answer.stdout + answer.stderr
    assert ("' '" in text and "''" in text) or ("&#x27; &#x27;" in text and "&#x27;&#x27;" in text), answer
    assert not re.search(r"^(kohort: )? *[:,] |^ *\|? *\|  ? \|", text, re.M), answer


def test_programs_get_a_blank_id_unchanged(kohort: Kohort, blank: Path) -> None:
    listed = kohort.quick("list --output json --snapshot", blank).document["groups"]
    assert [group["group"] for group in listed] == ["", " "]
    assert [row["GROUP"] for row in kohort.quick("list --output csv --snapshot", blank).rows] == ["", " "]
    kohort.quick("delete", "", "--snapshot", blank).assert_refused("GROUP: no value is given")
    matched = kohort.quick("delete --output json --match ^$ --snapshot", blank).document["groups"]
    assert [group["group"] for group in matched] == [""]


@pytest.mark.parametrize(
    "setting",
    [
        *(f"{key}: {value}" for key in ("bootstrap_server", "snapshot", "embedded") for value in ("", "' '")),
        "bootstrap_server: 'b:1,'", "bootstrap_server: [b:1, '']", "command_config: ''", "log_dirs: ['', logs]",
        "{log_dirs: logs, topics: ''}", "{bootstrap_server: b:1, cluster_id: ''}", 'snapshot: "a\\0b"',
        "{bootstrap_server: b:1, properties: {a: {env: }}}",
    ],
)  # fmt: skip
def test_an_empty_value_of_a_context_is_refused(kohort: Kohort, tmp_path: Path, setting: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"current: a\ncontexts:\n  a:\n    {setting}\n")
    kohort.quick("delete --all-groups --execute", KOHORT_CONFIG=str(file)).assert_refused(f"{file}")
