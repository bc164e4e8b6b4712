"""The schemas of a simulation's tables, versioned with the others: columns may be added, never renamed.

`runs` has a row for every scenario, protocol, settings and seed; `failures` has a row for each that did not hold.
`costs` sums up the seeds of each scenario, protocol and settings, and `spans` is the distribution of their figures.
"""

from __future__ import annotations

from pipeline.tables.schemas import DOUBLE, INT, LONG, STRING, STRINGS, table

CASE = (
    ("scenario", STRING, False),
    ("protocol", STRING, False),  # as-written, eager, cooperative or consumer
    ("libraries", STRING, False),  # the members' libraries, by name: java, librdkafka
    ("settings", STRING, False),  # that replace the scenario's: NAME=VALUE, separated by spaces; empty: none
)
"""The scenario, protocol and settings that are played: these columns start every table."""
KEY = tuple(name for name, _, _ in CASE)

FIGURES = (
    ("rebalances", LONG),
    ("moved", LONG),
    ("without_owner_s", DOUBLE),
    ("read_twice", LONG),
    ("converged_s", DOUBLE),  # null: the group did not settle within the scenario's time
    ("callbacks", LONG),
    ("thrown", LONG),
    ("zombie_overlap_s", DOUBLE),
)
"""The figures of `coordinator.simulation.seeds.Costs`."""

RUNS = table(
    *CASE,
    ("seed", LONG, False),
    ("verdict", STRING, False),  # held, known, fallen, stopped or threw
    ("invariant", STRING, True),  # the violated one; of several, one that no known weakness explains
    ("known", STRING, True),  # the weakness of Kafka's rules that explains the violation
    ("error", STRING, True),  # the exception that the code threw
    *((name, kind, True) for name, kind in FIGURES),  # null if the code threw
    ("violations", INT, True),
    ("known_violations", INT, True),
    ("requests", LONG, True),  # requests that the coordinator answered
)

FAILURES = table(
    *CASE,
    ("seed", LONG, False),
    ("verdict", STRING, False),
    ("invariant", STRING, True),
    ("at_s", DOUBLE, True),
    ("message", STRING, False),
    ("known", STRING, True),
    (
        "story",
        STRINGS,
        True,
    ),  # one event per line; null if a known weakness explains it: `command` prints it
    ("command", STRING, False),  # plays the seed again on one machine
    ("file", STRING, True),  # the scenario as it was played, for another machine; null if `story` is null
)

VERDICTS = ("held", "known", "fallen", "stopped", "threw")
OF_FIGURES = ("median", "p95", "worst")

COSTS = table(
    *CASE,
    ("seeds", LONG, False),
    *((verdict, LONG, False) for verdict in VERDICTS),
    *((f"{name}_{of}", kind, True) for name, kind in FIGURES for of in OF_FIGURES),
    ("requests", LONG, False),
)

SPREAD = ("rebalances", "without_owner_s", "read_twice", "converged_s")
"""The figures whose distribution `spans` shows."""
LIMITS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)

SPANS = table(
    *CASE,
    ("figure", STRING, False),
    ("up_to", LONG, True),  # the largest value in the span; null: more than any of LIMITS, or never
    ("seeds", LONG, False),
)

TABLES = {"runs": RUNS, "failures": FAILURES, "costs": COSTS, "spans": SPANS}
