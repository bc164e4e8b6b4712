"""Which patterns Java's own engine may be asked about: it backtracks, and nothing stops it before it is done.

A group that repeats without end may take exponential time, unless every turn of it can begin, or end, in one way only;
and each repetition without end that stands behind another multiplies the time by the length of a name. What is not
surely quick is not asked, and the table says so. Where our parser does not follow a pattern, a group that repeats is
taken to be slow.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import comb

from groups.regex.client_engine import ClientEngine
from groups.regex.compare import INTERNAL_TOPICS
from groups.regex.java import JavaSyntaxError, parse_java
from groups.regex.program import UnsureError
from groups.regex.tree import Assertion, Atomic, Chars, Choice, Look, Repeat, Tree, Unsure
from groups.regex.tree import Sequence as Chain
from migration.rules.regexes import ComparedRegex

MOST_STEPS = 1_000_000_000
"""Of the engine at the very worst, for one pattern on all names of a source; it takes some hundred million a second."""
LONGEST_PATTERN = 2_000
FEW_TURNS = 3
"""A repetition with so low a bound is written out."""

_QUANTIFIED_GROUP = re.compile(r"\)[*+{?]")
_BACK_REFERENCE = re.compile(r"\\(?:[1-9]|k<)")
_QUANTIFIER = re.compile(r"[*+]|\{\d+,\d*\}")


def why_unasked(compared: ComparedRegex, names: Sequence[str] | None) -> str | None:
    """Why Java's engine is not asked about a group's regex; None where it is. `names` are all topics there are."""
    if compared.engine is ClientEngine.LIBRDKAFKA:
        return "librdkafka matches it, by another engine"
    if names is None:
        return "the topics are not known"
    return too_slow(compared.pattern, names)


def too_slow(pattern: str, names: Sequence[str]) -> str | None:
    """Why asking Java's engine about a pattern and these names may take too long; None where it does not."""
    if len(pattern) > LONGEST_PATTERN:
        return f"it has more than {LONGEST_PATTERN:,} characters"
    loops = _loops(pattern)
    if loops is None:
        return "Java's engine may take exponential time over it"
    lengths = Counter(map(len, names))
    steps = sum(count * comb(length + loops, loops) for length, count in lengths.items())
    if steps > MOST_STEPS:
        return f"Java's engine may take long over {loops} repetitions, one behind the other"
    return None


def is_asked(name: str) -> bool:
    """Whether a Java consumer matches a name at all (`exclude.internal.topics`)."""
    return name not in INTERNAL_TOPICS


def _loops(pattern: str) -> int | None:
    """How many repetitions are behind one another at most; None where time may be exponential."""
    if _BACK_REFERENCE.search(pattern):
        return None
    try:
        return _loops_in(parse_java(pattern))
    except JavaSyntaxError:
        return 0  # it is only asked whether it compiles
    except (UnsureError, RecursionError, _ExponentialError):
        pass
    if _QUANTIFIED_GROUP.search(pattern):
        return None
    return len(_QUANTIFIER.findall(pattern))


class _ExponentialError(Exception):
    """A repetition can be passed through in several ways."""


def _loops_in(tree: Tree) -> int:
    match tree:
        case Chars() | Assertion():
            return 0
        case Unsure():
            raise UnsureError(tree.construct)
        case Chain():
            return sum(map(_loops_in, tree.parts))
        case Choice():
            # Each option may be tried after the others: their work adds up, a factor at most.
            return max(map(_loops_in, tree.options), default=0) + (len(tree.options) > 1)
        case Look() | Atomic():
            return _loops_in(tree.body)
        case Repeat():
            return _loops_of_repeat(tree)


def _loops_of_repeat(tree: Repeat) -> int:
    if isinstance(tree.body, Chars):
        return int(tree.most is None or tree.most > FEW_TURNS)
    inner = _loops_in(tree.body)
    if tree.most is not None and tree.most <= FEW_TURNS:
        return max(1, tree.most) * (inner + 1)
    if not _is_told_apart(tree.body):
        raise _ExponentialError
    return inner + 1


def _is_told_apart(body: Tree) -> bool:
    """Whether a name falls into turns of the body in one way only.

    So it is where a character stands at the beginning, or at the end, of every turn that is nowhere else in it.
    """
    parts = list(body.parts) if isinstance(body, Chain) else [body]
    if not parts or not all(isinstance(part, Chars | Repeat) for part in parts):
        return False
    if any(isinstance(part, Repeat) and not isinstance(part.body, Chars) for part in parts):
        return False
    loops = [part for part in parts if isinstance(part, Repeat)]
    if not loops:
        return True  # always as long, and one way to match
    for edge, rest in ((parts[0], parts[1:]), (parts[-1], parts[:-1])):
        if isinstance(edge, Chars) and all(not edge.mask & mask for mask in _masks(rest)):
            return len(loops) == 1
    return False


def _masks(parts: Sequence[Tree]) -> Iterator[int]:
    for part in parts:
        if isinstance(part, Chars):
            yield part.mask
        elif isinstance(part, Repeat) and isinstance(part.body, Chars):
            yield part.body.mask
