"""The schema of a fleet's rehearsals, versioned with the others: columns may be added, never renamed."""

from __future__ import annotations

from pipeline.tables.schemas import DOUBLE, INT, LONG, QUARANTINE, STRING, STRINGS, table

REHEARSED = (
    ("source", STRING, False),
    ("cluster", STRING, True),
    ("group", STRING, False),
    ("destination", STRING, False),
    ("verdict", STRING, False),  # safe, unsafe, blocked, unplayable, arrived or threw
    (
        "why",
        STRINGS,
        False,
    ),  # of what is not safe: what happened, the rules that block, or why nobody can play it
    ("warnings", INT, True),  # null: there is no plan, its code threw
    ("path", STRING, True),
    ("members", INT, False),
    ("rounds", INT, True),
    ("seeds", LONG, False),  # that were played
    ("unsafe_seed", LONG, True),  # the first
    # Each the worst of all seeds.
    ("rebalances", INT, True),
    ("moved", LONG, True),
    ("without_owner_s", DOUBLE, True),  # partition-seconds
    ("read_twice", LONG, True),
    ("commits_refused", LONG, True),
    ("duration_s", DOUBLE, True),  # from the start of each round to its open gate, added up
)
REHEARSALS = table(*REHEARSED, ("rank", INT, True))  # null: not safe
UNRANKED = table(*REHEARSED)
TABLES = {"rehearsals": REHEARSALS, "quarantine": QUARANTINE}
FIGURES = ("rebalances", "moved", "without_owner_s", "read_twice", "commits_refused")
