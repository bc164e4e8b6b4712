"""Numbers of reports: of a fleet of any size, from a fixed seed, with names that somebody might choose."""

from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta
from functools import partial
from random import Random
from typing import Any, TypeVar, cast

from pipeline.report.numbers import (
    CAUSES,
    SPANS,
    Candidate,
    GroupCost,
    GroupTimeline,
    Mark,
    Period,
    ProtocolCost,
    Readiness,
    Reason,
    ReportNumbers,
    ReportTotals,
)

T = TypeVar("T")
MADE = datetime(2026, 11, 22, 6, 30, tzinfo=UTC)
FIRST = datetime(2026, 10, 20, 9, 15, tzinfo=UTC)
HOSTILE = (
    '"><script>alert(1)</script>\u202e<img src=https://example.org/x.png onerror=alert(2)>`x`&amp;'
    + "é" * 300
)


def fleet(*, days: int = 34, groups: int = 40, marks: int = 24, seed: int = 9) -> ReportNumbers:
    """All parts of a report."""
    random = Random(seed)
    names = [f"{random.choice(('orders', 'billing', 'audit-trail', 'search'))}-{i}" for i in range(groups)]
    names[1] = HOSTILE
    periods = tuple(_period(random, day, days, groups) for day in range(days))
    worst = tuple(_cost(random, name, number) for number, name in enumerate(names[:20]))
    return ReportNumbers(
        made=MADE,
        sources=("/var/kafka/a/__consumer_offsets-0", "/var/kafka/b/__consumer_offsets-49", HOSTILE),
        first=FIRST,
        last=FIRST + timedelta(days=days - 1, hours=7),
        quarantined=3,
        totals=_filled(
            ReportTotals,
            partial(random.randrange, 5_000_000),
            groups=groups,
            rebalances=sum(period.rebalances for period in periods),
        ),
        periods=periods,
        worst=worst,
        protocols=(_protocol(random, "classic", 3.0), _protocol(random, "consumer", 0.2)),
        timelines=tuple(timeline(group.group, marks=marks, seed=seed) for group in worst[:3]),
        readiness=(_readiness(random, names, "consumer"), _readiness(random, names, "cooperative")),
    )


def nothing() -> ReportNumbers:
    """A run over logs in which nothing was."""
    return ReportNumbers(made=MADE, sources=(), totals=_filled(ReportTotals, rebalancing_s=0.0))


def one() -> ReportNumbers:
    """One group that rebalanced once, at the last moment of its log: how long is not known."""
    causes = (1, 0, 0, 0, 0, 0, 0, 0)
    once: dict[str, Any] = {"rebalances": 1, "rebalancing_s": None}
    classic: dict[str, Any] = {"protocol": "classic", **once}
    here: dict[str, Any] = {"start": FIRST, "end": FIRST, "causes": causes}
    mark = _filled(Mark, assignor="range", epoch=1, members=1, joined=1, **here, **classic)
    unknown: dict[str, Any] = dict.fromkeys(("median_s", "p95_s", "longest_s"))
    spans: dict[str, Any] = {"interruptions": (0,) * len(SPANS)}
    group = _filled(
        GroupCost, group="orders", type="classic", stage="classic", joined=1, members_most=1, **once
    )
    return ReportNumbers(
        made=MADE,
        sources=("/var/kafka",),
        first=FIRST,
        last=FIRST,
        totals=_filled(ReportTotals, records=1, groups=1, **once),
        periods=(Period(day=FIRST.date(), causes=causes, stages=(1, 0, 0), **once),),
        worst=(group,),
        protocols=(_filled(ProtocolCost, groups=1, **spans, **unknown, **classic),),
        timelines=(GroupTimeline(group="orders", marks=(mark,)),),
    )


def timeline(group: str, *, marks: int, seed: int = 9) -> GroupTimeline:
    """A group that goes from the classic protocol to the other half-way."""
    random = Random(seed)
    moment = FIRST
    history = []
    for rank in range(marks):
        moment += timedelta(seconds=random.choice((2, 40, 3_600, 90_000)))
        causes = [0] * len(CAUSES)
        causes[random.randrange(len(CAUSES))] = 1
        took = timedelta(milliseconds=random.randrange(60_000))
        when: dict[str, Any] = {"start": moment, "end": moment + took, "members": random.randrange(1, 12)}
        when["rebalancing_s"] = took.total_seconds()
        protocol, assignor = ("classic", "range") if rank < marks // 2 else ("consumer", "uniform")
        mark = _filled(
            Mark,
            partial(random.randrange, 30),
            rebalances=1,
            causes=tuple(causes),
            protocol=protocol,
            assignor=assignor,
            epoch=rank + 1,
            **when,
        )
        history.append(mark)
    return GroupTimeline(group=group, marks=tuple(history))


def _filled(kind: type[T], draw: Callable[[], int] = lambda: 0, **known: Any) -> T:
    """One of a kind, with a drawn number in each field that is not given."""
    names = [field.name for field in fields(cast(Any, kind)) if field.name not in known]
    return kind(**{name: draw() for name in names}, **known)


def _period(random: Random, day: int, days: int, groups: int) -> Period:
    storm = 12 if random.random() < 0.06 else 1
    causes = tuple(random.randrange(1 + groups * storm // (2 + cause)) for cause in range(len(CAUSES)))
    consumer = groups * day // (2 * days)
    mixed = min(2, groups - consumer)
    return Period(
        day=date(2026, 10, 20) + timedelta(days=day),
        rebalances=sum(causes),
        causes=causes,
        rebalancing_s=sum(causes) * 2.5,
        stages=(groups - consumer - mixed, mixed, consumer),
    )


def _cost(random: Random, group: str, rank: int) -> GroupCost:
    stage = ("classic", "mixed", "consumer", None)[rank % 4]
    return _filled(
        GroupCost,
        partial(random.randrange, 500),
        group=group,
        type="consumer" if stage in ("mixed", "consumer") else "classic",
        stage=stage,
        rebalancing_s=40_000 / (1 + rank),
        without_owner_s=random.random() * 90_000,
    )


def _protocol(random: Random, protocol: str, scale: float) -> ProtocolCost:
    counts = [random.randrange(1, 500) for _ in range(len(SPANS))]
    spans = tuple(counts if scale > 1 else reversed(counts))
    times = {"median_s": scale, "p95_s": scale * 8, "longest_s": scale * 400}
    draw = partial(random.randrange, 9_000)
    return _filled(ProtocolCost, draw, protocol=protocol, interruptions=spans, **times)


def _readiness(random: Random, names: list[str], destination: str) -> Readiness:
    blocked, warnings, arrived = len(names) // 5, len(names) // 4, len(names) // 10
    levels = {"static-library": "blocker", "regex-differs": "blocker", "library-too-old": "warning"}
    reasons = []
    for number, (rule, level) in enumerate(levels.items()):
        name, groups = names[number], max(1, blocked // (1 + number))
        message = f"what the rule says of {name}"
        reasons.append(Reason(rule=rule, level=level, groups=groups, example=name, message=message))
    first = []
    for number, name in enumerate(names[:15]):
        known: dict[str, Any] = {"cluster": None if number % 2 else "lkc-1", "risk": random.random()}
        known["source"] = "/snapshots/a.yaml"
        path = {"verdict": "ready", "path": "rolling upgrade"}
        draw = partial(random.randrange, 100)
        first.append(_filled(Candidate, draw, rank=number + 1, group=name, **known, **path))
    return Readiness(
        destination=destination,
        groups=len(names),
        arrived=arrived,
        verdicts=(len(names) - blocked - warnings - arrived, warnings, blocked - 1, 1),
        reasons=tuple(reasons),
        first=tuple(first),
    )
