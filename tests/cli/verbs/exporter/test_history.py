"""What polls show one after the other: rebalances, progress, verdicts; and what is kept of it."""

from dataclasses import replace
from functools import partial

import pytest

from cli.polls.history import ExporterHistory, rebalances_between
from cli.polls.reading import PolledGroup, PollResult
from cli.verbs.exporter.options import SampleLevel
from cli.verbs.exporter.page import PageLimits, page_of
from groups.diagnosis.case import Observation, Thresholds
from groups.diagnosis.diagnose import diagnose
from groups.lag import lag_columns
from groups.model import CommittedOffset, Group, GroupState, GroupType, Member, Problem, Topic
from groups.offsets_progress import OffsetsAt, progress_of
from groups.progress import progress_in
from tests.cli.verbs.exporter.scrapes import Figures

EVERY_MS = 30_000
MEMBER = Member(id="m", owned={"orders": (0, 1)})
CLASSIC = Group(
    id="g", type=GroupType.CLASSIC, state=GroupState.STABLE, protocol_type="consumer", members=(MEMBER,)
)
CONSUMER = replace(CLASSIC, type=GroupType.CONSUMER, group_epoch=4, assignment_epoch=4)


def reading(at_ms: int, group: Group | None = CLASSIC, committed: int = 5, end: int = 10) -> PollResult:
    topics = {"orders": Topic(name="orders", partitions=2, end_offsets={0: end, 1: end})}
    if group is None:
        return PollResult(
            at_ms=at_ms, groups={"g": PolledGroup(id="g", error="GROUP_AUTHORIZATION_FAILED")}, topics=topics
        )
    group = replace(
        group, offsets={"orders": {number: CommittedOffset(offset=committed) for number in (0, 1)}}
    )
    return PollResult(
        at_ms=at_ms,
        groups={"g": PolledGroup.of(group, partial(lag_columns, group, topics, {}, at_ms))},
        topics=topics,
    )


def shown(poll: PollResult, history: ExporterHistory) -> Figures:
    page = page_of(poll, history, PageLimits(max_series=100))
    return Figures.read(b"".join(page.parts(openmetrics=False)).decode())


def after(*polls: PollResult, interval_ms: int = 0) -> ExporterHistory:
    history = ExporterHistory(interval_ms=interval_ms)
    for poll in polls:
        history = history.after(poll)
    return history


PREPARING, COMPLETING = (
    replace(CLASSIC, state=state)
    for state in (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE)
)


@pytest.mark.parametrize(
    ("before", "later", "count"),
    [
        (CONSUMER, CONSUMER, 0), (CONSUMER, replace(CONSUMER, group_epoch=7), 3),
        (CONSUMER, replace(CONSUMER, group_epoch=1), 0),  # deleted, and created again
        (CLASSIC, CONSUMER, 1), (CLASSIC, CLASSIC, 0), (CLASSIC, PREPARING, 1), (PREPARING, COMPLETING, 0),
        (COMPLETING, CLASSIC, 0),  # it was counted as it began
        (CLASSIC, replace(CLASSIC, members=(replace(MEMBER, owned={"orders": (0,)}),)), 1),
        (CLASSIC, replace(CLASSIC, members=(replace(MEMBER, id="n"),)), 1),
        (replace(CLASSIC, generation=3), replace(CLASSIC, generation=5), 2),  # as a replayed log shows it
    ],
)  # fmt: skip
def test_rebalances_are_counted_as_far_as_they_show(before: Group, later: Group, count: int) -> None:
    assert rebalances_between(before, later) == count
    unread = [reading(number * EVERY_MS, None) for number in (1, 2, 3)]
    for interval_ms in (0, EVERY_MS):
        history = after(reading(0, before), *unread, reading(4 * EVERY_MS, later), interval_ms=interval_ms)
        assert history.groups["g"].rebalances == count


def test_what_is_kept_does_not_grow() -> None:
    for interval_ms, kept in ((EVERY_MS, 1), (2 * EVERY_MS, 1), (EVERY_MS // 2, 2), (EVERY_MS // 3, 3)):
        polls = [reading(number * interval_ms, committed=number, end=100) for number in range(10)]
        history = after(*polls, interval_ms=interval_ms).groups["g"]
        assert (len(history.observations), len(history.readings)) == (kept, kept)
        assert history == replace(
            after(*polls).groups["g"], observations=history.observations, readings=history.readings
        )
    often = after(*(reading(number * 1_000, committed=number, end=100) for number in range(100)))
    assert len(often.groups["g"].readings) == 31
    groups = [observation.group for observation in often.groups["g"].observations]
    assert [group is not None and group.offsets is not None for group in groups] == [False] * 30 + [True]


@pytest.mark.parametrize("interval_ms", [0, 10_000])
def test_findings_equal_those_of_diagnose_over_whole_observations(interval_ms: int) -> None:
    gone = replace(CLASSIC, members=(replace(MEMBER, id="n"),))
    for polls in (
        [reading(at_ms) for at_ms in (0, 10_000, 20_000)],  # stalled
        [reading(0, committed=7), reading(10_000, committed=3), reading(20_000, committed=4)],  # rewound
        [reading(0, end=20), reading(10_000, end=9_000), reading(20_000, end=20_000)],  # lag grows
        [reading(0, committed=30), reading(10_000, committed=30), reading(20_000, committed=30)],  # beyond the end
        [reading(0), reading(10_000, None), reading(20_000)],
        [reading(0), reading(10_000, gone), reading(20_000, replace(CLASSIC, members=()))],
    ):  # fmt: skip
        shown = after(*polls, interval_ms=interval_ms).groups["g"]
        whole = [
            Observation(at_ms=poll.at_ms, group=poll.groups["g"].group, topics=poll.topics) for poll in polls
        ]
        diagnosis = diagnose("g", whole, Thresholds())
        assert diagnosis.findings
        assert shown.diagnosis is not None
        assert shown.diagnosis.findings == diagnosis.findings
        seen = [(look.at_ms, look.group, look.topics or {}) for look in whole if look.group is not None]
        rates = progress_in(progress_of([OffsetsAt(*parts) for parts in seen]))
        assert shown.progress == rates._replace(partitions={})


def test_an_unreadable_group_keeps_its_counts_a_deleted_one_does_not() -> None:
    history = after(
        reading(0, CONSUMER), reading(EVERY_MS, replace(CONSUMER, group_epoch=9)), reading(2 * EVERY_MS, None)
    )
    assert history.groups["g"].rebalances == 5
    assert history.groups["g"].progress is None
    figures = shown(reading(2 * EVERY_MS, None), history)
    assert figures("kohort_group_readable", group="g") == 0
    assert figures("kohort_group_unread", group="g", error="GROUP_AUTHORIZATION_FAILED") == 1
    assert "kohort_group_lag_records" not in figures.samples
    assert history.after(PollResult(at_ms=3 * EVERY_MS)).groups == {}


def test_a_group_without_a_coordinator_has_that_finding() -> None:
    for error, count in (("COORDINATOR_NOT_AVAILABLE", 1), ("GROUP_AUTHORIZATION_FAILED", None)):
        unread = PollResult(
            at_ms=EVERY_MS,
            groups={"g": PolledGroup(id="g", error=error)},
            problems=(Problem(subject="g", message="no", group="g", error=error),),
        )
        history = after(reading(0), unread)
        figures = shown(unread, history)
        unavailable = {"rule": "coordinator-unavailable", "level": "error"}
        assert figures("kohort_group_findings", group="g", **unavailable) == count
        assert figures("kohort_group_verdict", group="g", verdict="error") == count
        assert figures("kohort_group_verdict", group="g", verdict="ok") is None
        assert figures("kohort_group_rebalances_total", group="g") == 0
        assert "kohort_group_progress" not in figures.samples


def test_names_with_every_character_are_read_back() -> None:
    odd = 'a"b\\c\nd{}=, é\u2028\x00'
    seen = reading(0)
    topics = {odd: replace(seen.topics["orders"], name=odd)}
    group = replace(CLASSIC, id=odd, members=(), offsets={odd: {0: CommittedOffset(offset=5)}})
    seen = PollResult(
        at_ms=0, groups={odd: PolledGroup.of(group, partial(lag_columns, group, topics))}, topics=topics
    )
    page = page_of(seen, after(seen), PageLimits(per=SampleLevel.PARTITION, max_series=1000))
    for openmetrics in (False, True):
        text = b"".join(page.parts(openmetrics=openmetrics)).decode() + ("# EOF\n" if openmetrics else "")
        figures = Figures.read(text, openmetrics=openmetrics)
        assert figures("kohort_partition_lag_records", group=odd, topic=odd, partition="0") == 5
