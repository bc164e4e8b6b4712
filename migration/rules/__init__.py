"""Readiness: every rule that a plan checks, a topic a file. A rule is a function from the case to findings."""
