"""Check the repository's texts for the words of `words.txt`: `python -m tests.docs.words`, a part of `make check`.
Names are texts too. Arguments are files or folders to which the check is limited."""

import re
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
NOT_OURS = (
    "LICENSE",
    "constraints.txt",
    "cli/dropin/errors.py",  # Kafka's messages, help and descriptions
    "cli/dropin/streams_groups.py",
    "cli/dropin/usage.txt",
    "cli/dropin/usage-4.3.1.txt",
    "cli/dropin/usage-streams-reset.txt",
    "coordinator/configs/kafka.tsv",
    "tests/coordinator/simulation/stories/recorded/",  # what clients sent
    "tests/golden/classic_streams/groups.yaml",
    "tests/docs/test_words.py",
    "tests/docs/words",
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\w\s#]+")
"""A word of a sentence or a part of a name. Punctuation counts: no phrase spans it."""
_WORDS = dict(
    line.split("\t") for line in (HERE / "words.txt").read_text().splitlines() if not line.startswith("#")
)
"""Regular expressions over words separated by one space, and what to write instead."""
_ANY = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    line: int
    word: str
    instead: str


def find_uses(text: str) -> Iterator[Use]:
    matches = list(_WORD.finditer(text))
    words = [match[0] if match[0] == "None" else match[0].lower() for match in matches]
    starts, length = [], 0
    for word in words:
        starts.append(length)
        length += len(word) + 1
    for use in _ANY.finditer(" ".join(words)):
        position = matches[bisect_right(starts, use.start()) - 1].start()
        yield Use(line=text.count("\n", 0, position) + 1, word=use[0], instead=_instead(use[0]))


def _instead(word: str) -> str:
    return next(remedy for expression, remedy in _WORDS.items() if re.fullmatch(expression, word))


def main(limits: list[str]) -> int:
    command = ["git", "ls-files", "-z", "--", *limits]
    tracked = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    failed = False
    for path in tracked:
        if (ROOT / path).is_file() and not path.startswith(NOT_OURS):
            for use in find_uses((ROOT / path).read_text(errors="replace")):
                failed = True
                print(f"{path}:{use.line}: {use.word}: write {use.instead}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
