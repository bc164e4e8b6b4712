"""Random command lines: ours refuses the same ones as the tools, in the same words."""

import random
import re

import pytest

from cli.dropin.errors import ToolFailure, ToolUsageError, VersionRequested
from cli.dropin.flags import Value
from cli.dropin.parse import NO_EXECUTE
from cli.dropin.printing import usage
from cli.dropin.wording import NEWEST, wording
from tests.cli.command import Answer
from tests.cli.dropin.harness import PAIRS, Pair, normalized, run_tool
from tests.kafka.jars import kafka_version
from tests.kafka.tool_host import ToolHost
from tests.support.long import LONG

LINES = 400
NO_PORT = "nowhere"
"""A server without a port: the tool gives up as soon as it has taken the command line."""
USUAL = (
    "list", "describe", "group", "state", "type", "reset-offsets", "members", "offsets", "timeout", "topic",
    "input-topic", "all-input-topics", "topology", "delete", "delete-all-internal-topics", "execute", "group-type",
    "share", "protocol", "application-id", "input-topics", "to-latest", "dry-run",
)  # fmt: skip
OF_CONSUMERS = USUAL[:10]
VALUES = ("a", "1", "-1", "x:0", "", "--", "-", "-group", "stable", "=")
ODDITIES = ("--", "-", "junk", "--nope", "-x", "---list", "--=")
LATE = re.compile(r"Found multiple arguments|Cannot parse|--group-type must be")
"""Values that most tools read later, some only where nothing else is wrong, ours with the rest."""


def line(chance: random.Random, pair: Pair) -> list[str]:
    """Some flags with values or without, in any order, and sometimes what is no flag."""
    usual = (
        OF_CONSUMERS if pair is PAIRS["consumer-groups"] else [flag for flag in USUAL if flag in pair.flags]
    )
    words = ["--bootstrap-server", NO_PORT] if chance.random() < 0.8 else []
    if "application-id" in pair.flags:
        words = ["--bootstrap-server", NO_PORT, *["--application-id", "a"] * (chance.random() < 0.8)]
    for _ in range(chance.randint(0, 5)):
        flag = chance.choice(usual if chance.random() < 0.7 else sorted(pair.flags))
        name = chance.choice(["--", "--", "--", "-"]) + flag
        value = NO_PORT if flag == "bootstrap-server" else chance.choice(VALUES)
        if pair.flags[flag] is Value.NONE:
            words.append(name + chance.choice(["", "", "", "=x"]))
        elif chance.random() < 0.25:
            words.append(f"{name}={value}")
        else:
            words += [name, value] if chance.random() < 0.85 else [name]
        words += [chance.choice(ODDITIES)] if chance.random() < 0.05 else []
    return words


def ours(words: list[str], pair: Pair) -> str:
    """The error of ours; empty if it would continue."""
    try:
        options = pair.parse(words)
    except ToolUsageError as error:
        return "" if LATE.match(str(error)) else str(error)
    except ToolFailure:
        return ""  # the tool reads these values later
    except VersionRequested:
        return "version"
    return "regex" if options.regex is not None else ""


def theirs(answer: Answer, pair: Pair) -> str:
    complaint = answer.stderr.removeprefix(f"{NO_EXECUTE}\n")
    if LATE.match(complaint):
        return ""
    if traced := re.match(r"joptsimple\.\w+: (.*)\n\tat ", complaint):
        return traced.group(1)
    text = normalized(Answer(status=0, stdout=usage(pair.usage), stderr="")).stdout
    if answer.status == 1 and not answer.stdout and "\tat " not in complaint:
        return complaint.removesuffix("\n").removesuffix(f"\n{text}")
    if answer.stdout.startswith("The regular expression"):
        return "regex"
    return "version" if answer.stdout.strip() == wording().release else ""


@pytest.mark.kafka
@pytest.mark.parametrize(
    "program",
    [program if program == "consumer-groups" else pytest.param(program, marks=LONG) for program in PAIRS],
)
def test_both_find_the_same_fault(program: str, tools: ToolHost, capsys: pytest.CaptureFixture[str]) -> None:
    if program != "consumer-groups" and kafka_version() != NEWEST.release:
        pytest.skip("an older release has other words")
    chance, pair = random.Random(848), PAIRS[program]
    said: set[str] = set()
    for words in (line(chance, pair) for _ in range(LINES)):
        answer = run_tool(tools, words, pair)
        mine = normalized(Answer(status=0, stdout=ours(words, pair), stderr=capsys.readouterr().err))
        assert mine.stdout == theirs(answer, pair), words
        assert (NO_EXECUTE in mine.stderr) == (NO_EXECUTE in answer.stderr), words
        said.add(mine.stdout)
    assert len(said) > 10
