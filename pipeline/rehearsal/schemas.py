"""The schemas of a fleet's rehearsals, versioned with the others: columns may be added, never renamed.

`runs` has a row for every group, settings and seed that was played; `failures` has a row for each that is not safe.
`rehearsals` sums up the seeds of each group and settings, and lists the groups that cannot be played.
"""

from __future__ import annotations

from pipeline.tables.schemas import DOUBLE, INT, LONG, QUARANTINE, STRING, STRINGS, table

CASE = (
    ("source", STRING, False),
    ("cluster", STRING, True),
    ("group", STRING, False),
    ("destination", STRING, False),
    ("settings", STRING, False),  # the varied settings: NAME=VALUE, separated by spaces; empty: none
)
"""The group, and the settings of its plan and rehearsal: these columns start every table."""
OF_PLAN = (
    ("members", INT, False),
    ("warnings", INT, True),  # null: there is no plan, because the code threw
    ("path", STRING, True),
    ("rounds", INT, True),  # null: there is nothing to play
)
FIGURES = (
    ("rebalances", INT),
    ("moved", LONG),
    ("without_owner_s", DOUBLE),  # partition-seconds
    ("read_twice", LONG),
    ("commits_refused", LONG),
    ("duration_s", DOUBLE),  # from the start of each round to its open gate, added up
)
"""Sums over all rounds of a plan."""
WHY = ("why", STRINGS, False)
"""Why a group is not safe: the events, the rules that block it, or the reason why it cannot be played."""

RUNS = table(
    *CASE,
    *OF_PLAN,
    ("seed", LONG, False),
    ("verdict", STRING, False),  # safe, unsafe, unplayable or threw
    WHY,
    *((name, kind, True) for name, kind in FIGURES),  # null: the seed was not played to its end
)
FAILURES = table(
    *CASE,
    ("seed", LONG, False),
    ("verdict", STRING, False),
    WHY,
    ("story", STRINGS, False),  # one event per line: the last ones; for an exception, its origin
    ("commands", STRINGS, False),  # make the plan and play the seed again on one machine
    ("snapshot", STRING, False),  # the group as a file, for another machine
)
UNPLAYED = table(*CASE, *OF_PLAN, ("verdict", STRING, False), WHY)
SUMMED = table(
    *CASE,
    *OF_PLAN,
    ("verdict", STRING, False),  # safe, unsafe, blocked, unplayable, arrived or threw: the worst of the seeds
    WHY,  # of the first seed with the verdict
    ("seeds", LONG, False),  # number of played seeds
    ("unsafe", LONG, False),  # number of unsafe seeds
    ("unsafe_seed", LONG, True),  # the first unsafe seed
    *((name, kind, True) for name, kind in FIGURES),  # the worst of all seeds
    *((f"{name}_median", kind, True) for name, kind in FIGURES),
)
REHEARSALS = table(
    *((field.name, field.dataType, field.nullable) for field in SUMMED.fields),
    ("rank", INT, True),  # among groups with the same settings; null: not safe
)
TABLES = {"rehearsals": REHEARSALS, "runs": RUNS, "failures": FAILURES, "quarantine": QUARANTINE}
