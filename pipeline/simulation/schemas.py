"""The schemas of a simulation's tables, versioned with the others: columns may be added, never renamed.

`runs` has a row for every scenario, protocol, settings and seed; `failures` one for each of these that did not hold;
`costs` sums up the seeds of each scenario, protocol and settings, and `spans` is the distribution of their figures.
"""

from __future__ import annotations

from pipeline.tables.schemas import DOUBLE, INT, LONG, STRING, STRINGS, table

CASE = (
    ("scenario", STRING, False),
    ("protocol", STRING, False),  # as-written, eager, cooperative or consumer
    ("libraries", STRING, False),  # of its members, by name: java, librdkafka
    ("settings", STRING, False),  # replacing the scenario's: NAME=VALUE, separated by spaces; empty: none
)
"""The scenario, protocol and settings that are played: these columns start every table."""
KEY = tuple(name for name, _, _ in CASE)

FIGURES = (
    ("rebalances", LONG),
    ("moved", LONG),
    ("without_owner_s", DOUBLE),
    ("read_twice", LONG),
    ("converged_s", DOUBLE),  # null: not within the scenario's time
    ("callbacks", LONG),
    ("thrown", LONG),
    ("zombie_overlap_s", DOUBLE),
)
"""The figures of `coordinator.simulation.seeds.Costs`."""

RUNS = table(
    *CASE,
    ("seed", LONG, False),
    ("verdict", STRING, False),  # held, known, fallen, stopped or threw
    ("invariant", STRING, True),  # that fell; of several, one that no known weakness explains is first
    ("known", STRING, True),  # the weakness of Kafka's rules that explains it
    ("error", STRING, True),  # that the code threw
    *((name, kind, True) for name, kind in FIGURES),  # null where the code threw
    ("violations", INT, True),
    ("known_violations", INT, True),
    ("requests", LONG, True),  # answered by the coordinator
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
    ("command", STRING, False),  # plays it again on one machine
    ("file", STRING, True),  # the scenario as it was played, for another machine; null as `story` is
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
    ("up_to", LONG, True),  # more than the span before, and at most this; null: more than any, or never
    ("seeds", LONG, False),
)

TABLES = {"runs": RUNS, "failures": FAILURES, "costs": COSTS, "spans": SPANS}
