"""Random command lines: ours refuses the same ones as the tool, in the same words."""

import random
import re

import pytest

from cli.dropin.errors import ToolFailure, ToolUsageError, VersionRequested
from cli.dropin.flags import Value
from cli.dropin.parse import FLAGS, NO_EXECUTE, parse
from cli.dropin.printing import usage
from tests.cli.command import Answer
from tests.cli.dropin.harness import normalized, run_tool
from tests.kafka.tool_host import ToolHost

LINES = 400
NO_PORT = "nowhere"
"""A server without a port: the tool gives up as soon as it has taken the command line."""
USUAL = (
    *("list", "describe", "group", "state", "type", "reset-offsets"),
    *("members", "offsets", "timeout", "topic"),
)
VALUES = ("a", "1", "-1", "x:0", "", "--", "-", "-group", "stable", "=")
ODDITIES = ("--", "-", "junk", "--nope", "-x", "---list", "--=")


def line(chance: random.Random) -> list[str]:
    """Some flags with values or without, in any order, and sometimes what is no flag."""
    words = ["--bootstrap-server", NO_PORT] if chance.random() < 0.8 else []
    for _ in range(chance.randint(0, 5)):
        flag = chance.choice(USUAL if chance.random() < 0.7 else sorted(FLAGS))
        name = chance.choice(["--", "--", "--", "-"]) + flag
        value = NO_PORT if flag == "bootstrap-server" else chance.choice(VALUES)
        if FLAGS[flag] is Value.NONE:
            words.append(name + chance.choice(["", "", "", "=x"]))
        elif chance.random() < 0.25:
            words.append(f"{name}={value}")
        else:
            words += [name, value] if chance.random() < 0.85 else [name]
        words += [chance.choice(ODDITIES)] if chance.random() < 0.05 else []
    return words


def ours(words: list[str]) -> str:
    """The error of ours; empty if it would continue."""
    try:
        options = parse(words)
    except ToolUsageError as error:
        return str(error)
    except ToolFailure:
        return ""  # the tool reads these values later
    except VersionRequested:
        return "version"
    return "regex" if options.regex is not None else ""


def theirs(answer: Answer) -> str:
    complaint = answer.stderr.removeprefix(f"{NO_EXECUTE}\n")
    if traced := re.match(r"joptsimple\.\w+: (.*)\n\tat ", complaint):
        return traced.group(1)
    if answer.status == 1:
        return complaint.removesuffix(f"\n{usage()}\n")
    if answer.stdout.startswith("The regular expression"):
        return "regex"
    return "" if answer.stdout.startswith("\nError: ") else "version"


@pytest.mark.kafka
def test_both_find_the_same_fault(tools: ToolHost, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(848)
    said: set[str] = set()
    for words in (line(chance) for _ in range(LINES)):
        answer = run_tool(tools, words)
        mine = normalized(Answer(status=0, stdout=ours(words), stderr=capsys.readouterr().err))
        assert mine.stdout == theirs(answer), words
        assert (NO_EXECUTE in mine.stderr) == (NO_EXECUTE in answer.stderr), words
        said.add(mine.stdout)
    assert len(said) > 30
