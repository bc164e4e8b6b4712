"""Readiness: the rules that a plan checks, one file per topic. A rule is a function from the case to findings."""
