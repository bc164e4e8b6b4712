r"""The results of Java's own engine for the regexes, next to RE2's: `java.util.regex`, in the JVM of Spark. A Java
consumer matches a topic's whole name (`Pattern.matches`). Spark's `rlike` finds a pattern anywhere, so it gets
`\A(?:…)\z` if that compiles. If only the pattern itself compiles (an open `\Q`, a comment), `Pattern.matches` is
called by reflection, which compiles the pattern again for every name. Java's engine backtracks, and nothing stops
it: an unbounded repeated group may take exponential time, unless each of its iterations can start, or end, in one
way only; and each unbounded repetition after another multiplies the time by the length of a name. A pattern that is
not certain to be fast is not tried, and the table reports this."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import comb

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from groups.regex import ClientEngine
from groups.regex.compare import INTERNAL_TOPICS
from groups.regex.java import JavaSyntaxError, parse_java
from groups.regex.program import UnsureError
from groups.regex.tree import Assertion, Atomic, Chars, Choice, Lookaround, Repeat, Tree, Unsure
from groups.regex.tree import Sequence as Chain
from migration.rules.regexes import ComparedRegex
from pipeline.audit.schemas import AUDIT_REGEXES
from pipeline.errors import PipelineError

_PATTERN = "java.util.regex.Pattern"


def with_java_results(compared: DataFrame, names: DataFrame) -> DataFrame:
    """AUDIT_REGEXES from compared regexes and the topics (`source`, `name`) of their sources."""
    asked = compared.where("java_unasked is null")
    patterns = asked.select("source", "pattern").distinct()
    answers = matched(patterns, names)
    joined = compared.join(answers, ["source", "pattern"], "left")
    was_asked = f.col("java_unasked").isNull()
    java_names = f.coalesce("java_names", f.array().cast("array<string>"))
    matches = was_asked & f.col("java_valid")
    columns = {
        "java_valid": f.when(was_asked, f.col("java_valid")),
        "java_topics": f.when(matches, f.size(java_names).cast("long")),
        "java_gained": f.when(matches, f.array_sort(f.array_except("broker_names", java_names))),
        "java_lost": f.when(matches, f.array_sort(f.array_except(java_names, f.col("broker_names")))),
    }
    return joined.select(*(columns.get(name, f.col(name)).alias(name) for name in AUDIT_REGEXES.fieldNames()))


def matched(patterns: DataFrame, names: DataFrame) -> DataFrame:
    """`source`, `pattern`, `java_valid` and, if it is true and there are any, the `java_names` that match whole."""
    whole = f.concat(f.lit("\\A(?:"), f.col("pattern"), f.lit(")\\z"))
    known = patterns.select(
        "source",
        "pattern",
        _compiles(f.col("pattern")).alias("java_valid"),
        whole.alias("whole"),
        _compiles(whole).alias("whole_valid"),
    )
    there = names.where(~f.col("name").isin(*INTERNAL_TOPICS))
    hit = (
        f.when(~f.col("java_valid"), f.lit(False))
        .when(f.col("whole_valid"), f.rlike("name", f.col("whole")))
        .otherwise(f.try_reflect(f.lit(_PATTERN), f.lit("matches"), "pattern", "name") == "true")
    )
    hits = known.join(there, "source").where(hit)
    by_pattern = hits.groupBy("source", "pattern").agg(f.collect_set("name").alias("java_names"))
    return known.select("source", "pattern", "java_valid").join(by_pattern, ["source", "pattern"], "left")


def _compiles(pattern: Column) -> Column:
    return f.try_reflect(f.lit(_PATTERN), f.lit("compile"), pattern).isNotNull()


MOST_STEPS = 1_000_000_000
"""The largest number of steps for one pattern on all names of a source; the engine does some 100 million a second."""
LONGEST_PATTERN = 2_000
FEW_TURNS = 3  # a repetition with a bound this low is expanded

_QUANTIFIED_GROUP = re.compile(r"\)[*+{?]")
_BACK_REFERENCE = re.compile(r"\\(?:[1-9]|k<)")
_QUANTIFIER = re.compile(r"[*+]|\{\d+,\d*\}")


def why_unasked(compared: ComparedRegex, names: Sequence[str] | None) -> str | None:
    """Why a group's regex is not tried with Java's engine; None if it is. `names` are the names of all topics."""
    if compared.engine is ClientEngine.LIBRDKAFKA:
        return "librdkafka matches it, by another engine"
    if names is None:
        return "the topics are not known"
    return too_slow(compared.pattern, names)


def too_slow(pattern: str, names: Sequence[str]) -> str | None:
    """Why Java's engine may take too long for a pattern and these names; None if it does not."""
    if len(pattern) > LONGEST_PATTERN:
        return f"it has more than {LONGEST_PATTERN:,} characters"
    loops = _loops(pattern)
    if loops is None:
        return "Java's engine may take exponential time for it"
    lengths = Counter(map(len, names))
    steps = sum(count * comb(length + loops, loops) for length, count in lengths.items())
    if steps > MOST_STEPS:
        return f"Java's engine may take long for {loops} consecutive repetitions"
    return None


def _loops(pattern: str) -> int | None:
    """The largest number of consecutive repetitions; None if time may be exponential."""
    if _BACK_REFERENCE.search(pattern):
        return None
    try:
        return _loops_in(parse_java(pattern))
    except JavaSyntaxError:
        return 0  # the pattern is only compiled
    except (UnsureError, RecursionError, _ExponentialError):
        pass
    if _QUANTIFIED_GROUP.search(pattern):
        return None
    return len(_QUANTIFIER.findall(pattern))


class _ExponentialError(PipelineError):
    """A repetition can match in several ways."""


def _loops_in(tree: Tree) -> int:
    match tree:
        case Chars() | Assertion():
            return 0
        case Unsure():
            raise UnsureError(tree.construct)
        case Chain():
            return sum(map(_loops_in, tree.parts))
        case Choice():
            # Each option may be tried after the others: their times add up, which costs at most a constant factor.
            return max(map(_loops_in, tree.options), default=0) + (len(tree.options) > 1)
        case Lookaround() | Atomic():
            return _loops_in(tree.body)
        case Repeat():
            return _loops_of_repeat(tree)


def _loops_of_repeat(tree: Repeat) -> int:
    if isinstance(tree.body, Chars):
        return int(tree.most is None or tree.most > FEW_TURNS)
    inner = _loops_in(tree.body)
    if tree.most is not None and tree.most <= FEW_TURNS:
        return max(1, tree.most) * (inner + 1)
    if not _is_unambiguous(tree.body):
        raise _ExponentialError
    return inner + 1


def _is_unambiguous(body: Tree) -> bool:
    """Whether a name can be split into iterations of the body in one way only. That is so if every iteration
    starts, or ends, with a character that is nowhere else in it."""
    parts = list(body.parts) if isinstance(body, Chain) else [body]
    if not parts or not all(isinstance(part, Chars | Repeat) for part in parts):
        return False
    if any(isinstance(part, Repeat) and not isinstance(part.body, Chars) for part in parts):
        return False
    loops = [part for part in parts if isinstance(part, Repeat)]
    if not loops:
        return True  # the length is fixed, so there is one way to match
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
