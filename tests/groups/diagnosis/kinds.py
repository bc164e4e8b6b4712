"""The kinds of groups, sick and healthy, of the table of verdicts in docs/diagnose.md."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    name: str
    about: str
    rules: frozenset[str] = frozenset()  # the rules of which one should find it; empty if it is healthy
    is_new: bool = False  # whether it starts just before it is diagnosed


def _sick(name: str, about: str, *rules: str) -> Kind:
    return Kind(name=name, about=about, rules=frozenset(rules))


SLOW, HOT, STALLED = "falling-behind", "hot-partition", ("stalled-member", "stalled-partition")
KINDS = (
    _sick("slow", "20 records/s are produced, 10 read; 9 minutes late", SLOW),
    _sick("slow-since-now", "the same, since two minutes ago", SLOW),
    _sick("slow-slightly", "20 produced, 16 read; 9 minutes late", SLOW),
    _sick("slow-lately", "the same, since production increased from 17/s", SLOW),
    _sick("slow-batches", "20 produced, 10 read, commits every 30 s", SLOW),
    _sick("slow-bursts", "400 produced at once every 20 s, 10 read per second", SLOW),
    _sick("hot", "one of three partitions gets 40/s, and 10 are read", SLOW, HOT),
    _sick("slow-partition", "one of two partitions is read more slowly", SLOW, HOT),
    _sick("stalled", "the member has committed nothing for a minute", *STALLED),
    _sick("poisoned", "one partition is committed at the same offset again and again", *STALLED),
    _sick("restarting", "the process fails at a record and restarts every 5 s", *STALLED, "rebalance-storm"),
    _sick("without-commits", "the member has never committed", *STALLED),
    _sick("stopped", "no members, unread records", "stopped"),
    _sick("two-readers", "two consumers commit the same partition in turn", "rewound"),
    _sick("survivor", "the member reads its partitions one after another", "stalled-partition"),
    Kind(
        name="grown",
        about="its topic has just got partitions, which no member reads yet",
        is_new=True,
        rules=frozenset({"partition-without-owner"}),
    ),
    Kind(name="steady", about="20 records/s are produced and read"),
    Kind(name="commits-each-second", about="the same, commits every second"),
    Kind(name="commits-30s", about="the same, commits every 30 s"),
    Kind(name="commits-60s", about="the same, commits every 60 s"),
    Kind(name="bursts", about="1,500 records every 15 s"),
    Kind(name="long-bursts", about="2,000 records every 40 s, read in 25 s"),
    Kind(name="same-rate", about="lag of 20 s that does not change"),
    Kind(name="late-on-purpose", about="records are read 9 minutes after they were written"),
    Kind(name="catching-up", about="a backlog is read ten times as fast as records are produced"),
    Kind(name="quiet", about="a record every 7 s"),
    Kind(name="uneven", about="50, 1 and 1 records/s, commits every 30 s"),
    Kind(name="paused", about="20 records/s are produced and read, with pauses of 8 s"),
    Kind(name="static", about="a static member restarts every 25 s"),
    Kind(name="started", about="has just started with a backlog", is_new=True),
    Kind(name="slow-start", about="has just started, and commits for the first time after 25 s", is_new=True),
    Kind(name="joining", about="members join, with cooperative rebalances", is_new=True),
)
