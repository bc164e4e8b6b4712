"""What Java's own engine says of the regexes, beside RE2: `java.util.regex`, in the JVM that Spark runs in.

A Java consumer matches a topic's whole name (`Pattern.matches`). Spark's `rlike` finds a pattern anywhere, so it is
given `\\A(?:…)\\z`, where that compiles; where it does not although the pattern itself does (an open `\\Q`, a comment),
`Pattern.matches` is called itself, by reflection, and compiles anew for every name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from groups.regex.compare import INTERNAL_TOPICS
from pipeline.audit.schemas import AUDIT_REGEXES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def beside_java(compared: DataFrame, names: DataFrame) -> DataFrame:
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
    """`source`, `pattern`, `java_valid` and, where it is true and there are any, the `java_names` that match whole."""
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
        .otherwise(_matches(f.col("pattern"), f.col("name")))
    )
    hits = known.join(there, "source").where(hit)
    by_pattern = hits.groupBy("source", "pattern").agg(f.collect_set("name").alias("java_names"))
    return known.select("source", "pattern", "java_valid").join(by_pattern, ["source", "pattern"], "left")


def _compiles(pattern: Column) -> Column:
    return f.try_reflect(f.lit("java.util.regex.Pattern"), f.lit("compile"), pattern).isNotNull()


def _matches(pattern: Column, name: Column) -> Column:
    return f.try_reflect(f.lit("java.util.regex.Pattern"), f.lit("matches"), pattern, name) == "true"
