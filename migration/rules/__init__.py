"""Readiness: every rule that a plan checks, a topic a file. A rule is a function from the case to findings."""

from migration.rules.case import Case, Rule
from migration.rules.catalogue import RULES, judge, nothing_to_migrate

__all__ = ["RULES", "Case", "Rule", "judge", "nothing_to_migrate"]
