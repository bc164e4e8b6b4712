"""Every rule is in the table of docs/diagnose.md, in its order, and names commands that there are."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from groups import transactions
from groups.diagnosis import diagnose
from groups.diagnosis.diagnose import RULES
from tests.docs.test_commands import parses

PAGE = Path(__file__).parents[3] / "docs" / "diagnose.md"
SOURCES = sorted(Path(diagnose.__file__).parent.glob("*.py"))
LOSING = re.compile(r"kohort delete|offsets delete|sh abort")
SKIPPING = re.compile(r"--shift-by|--to-latest|--to-offset|--by-duration")
COMMAND = re.compile(r"\bkohort (.+?)(?=[.:;,](?: |$)| \(|$)")


def test_rules_are_documented_in_their_order() -> None:
    named = re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text(), re.M)
    assert named == [rule.name for rule in RULES]
    assert len(set(named)) == len(named)


def test_remedies_that_lose_something_say_what() -> None:
    texts = [text for path in [*SOURCES, Path(transactions.__file__)] for text in _texts(path)]
    losing = [text for text in texts if LOSING.search(text)]
    assert len(losing) >= 3
    assert [text for text in losing if "This loses" not in text] == []
    assert [text for text in texts if SKIPPING.search(text)] == []


def test_commands_of_remedies_are_such() -> None:
    commands = [words for path in SOURCES for words in _commands(path)]
    for words in commands:
        parses(words)
    verbs = {"delete", "describe", "dry-run", "members", "offsets", "snapshot", "watch"}
    assert {words[0] for words in commands} >= verbs


def _commands(path: Path) -> Iterator[list[str]]:
    for text in _texts(path):
        for command in COMMAND.findall(text):
            yield shlex.split(command)


def _texts(path: Path) -> Iterator[str]:
    """The texts of a file, with `1` for what is filled in."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "1" for part in node.values)
