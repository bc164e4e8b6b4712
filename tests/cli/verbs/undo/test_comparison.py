"""What an entry replaced, compared with what a cluster has now: all cases, without a cluster."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from cli.journal.entry import ChangedItem, ItemKind, ItemOutcome, ItemResult, Value
from cli.verbs.undo.comparison import ItemVerdict, PresentState, compared_items
from groups.model import CommittedOffset, Group, GroupState, GroupType
from groups.offsets.model import Positions

THIS, OTHER = UUID(int=1), UUID(int=2)
PLACE = "orders", 0
OFFSET = ChangedItem(
    kind=ItemKind.OFFSET, group="g", type=GroupType.CLASSIC, topic="orders", topic_id=THIS, partition=0,
    before=3, after=7, leader_epoch=2, metadata="m",
)  # fmt: skip
CLEARED = replace(OFFSET, after=None)
SET = replace(OFFSET, before=None, leader_epoch=None, metadata=None)
SETTING = ChangedItem(kind=ItemKind.SETTING, group="g", name="a", before=None, after="5")
FEATURE = ChangedItem(kind=ItemKind.FEATURE, name="f", before=1, after=0)
DELETED = ChangedItem(kind=ItemKind.GROUP, group="g", before="Empty")
CREATED = ChangedItem(kind=ItemKind.GROUP, group="g", after="Empty")


def present(
    offset: int | None, *, metadata: str = "m", epoch: int | None = 2, topic: UUID | None = THIS, start: int = 0,
    end: int = 20,
) -> PresentState:  # fmt: skip
    commit = CommittedOffset(offset=offset, leader_epoch=epoch, metadata=metadata)
    offsets = {} if offset is None else {"orders": {0: commit}}
    return PresentState(
        groups={"g": Group(id="g", type=GroupType.CLASSIC, state=GroupState.EMPTY, offsets=offsets)},
        settings={"g": {"a": "5"}},
        features={"f": 0},
        topic_ids={} if topic is None else {"orders": topic},
        partitions={"orders": 1},
        positions=Positions(earliest={PLACE: start}, end={PLACE: end}),
    )


def judged(
    now: PresentState, *items: ChangedItem, result: ItemOutcome = ItemOutcome.DONE
) -> Sequence[tuple[ItemVerdict, Value, str | None]]:
    rows = compared_items([(item, ItemResult(result=result)) for item in items], now)
    return [(row.verdict, row.now, row.remark) for row in rows]


RESTORE, AS_BEFORE, REFUSED, UNREAD = ItemVerdict


@pytest.mark.parametrize(
    ("item", "now", "verdict", "remark"),
    [
        (OFFSET, present(7), RESTORE, None),
        (OFFSET, present(3), AS_BEFORE, None),
        (OFFSET, present(3, metadata=""), RESTORE, "changed since: was 7"),
        (replace(OFFSET, after=3), present(3, metadata=""), RESTORE, None),
        (replace(OFFSET, after=3), present(3, epoch=None), RESTORE, None),
        (replace(OFFSET, metadata=None, leader_epoch=None), present(3), AS_BEFORE, None),
        (OFFSET, present(9), RESTORE, "changed since: was 7"),
        (OFFSET, present(None), RESTORE, "changed since: was 7"),
        (OFFSET, present(7, start=4), REFUSED, "3 is before the earliest, 4: its records are deleted"),
        (OFFSET, present(7, start=3), RESTORE, None),
        (OFFSET, present(7, end=2), REFUSED, "3 is beyond the end, 2"),
        (OFFSET, present(7, end=3), RESTORE, None),
        (OFFSET, present(7, topic=None), RESTORE, None),
        (OFFSET, present(7, topic=OTHER), REFUSED, "deleted and created again since"),
        (OFFSET, present(3, topic=OTHER), AS_BEFORE, None),
        (OFFSET, replace(present(7), partitions={}), REFUSED, "the topic was deleted since"),
        (OFFSET, replace(present(7), partitions={}, unread_topics={"orders": "no right"}), UNREAD, "no right"),
        (replace(OFFSET, partition=1), present(7), REFUSED, "the partition does not exist"),
        (OFFSET, replace(present(7), unread_groups={"g": "no answer"}), UNREAD, "no answer"),
        (OFFSET, replace(present(7), positions=Positions(unread={PLACE: "slow"})), UNREAD, "still contains 3"),
        (SET, replace(present(7), positions=Positions(unread={PLACE: "slow"})), RESTORE, None),
        (SET, present(7), RESTORE, None),
        (SET, present(None), AS_BEFORE, None),
        (CLEARED, present(None), RESTORE, None),
        (CLEARED, replace(present(None), groups={}), RESTORE, None),
        (CLEARED, present(5), RESTORE, "changed since: was none"),
        (SETTING, present(7), RESTORE, None),
        (SETTING, replace(present(7), settings={"g": {"a": None}}), AS_BEFORE, None),
        (SETTING, replace(present(7), settings={"g": {"a": "6"}}), RESTORE, "changed since: was 5"),
        (SETTING, replace(present(7), settings={"g": {}}), REFUSED, "is not a group setting of this cluster"),
        (FEATURE, present(7), RESTORE, None),
        (FEATURE, replace(present(7), features={"f": 1}), AS_BEFORE, None),
        (FEATURE, replace(present(7), features={}), REFUSED, "is not a feature of this cluster"),
        (ChangedItem(kind=ItemKind.MEMBER, group="g", name="m"), present(7), REFUSED, "restart its client"),
        (ChangedItem(kind=ItemKind.TOPIC, group="g", topic="t"), present(7), REFUSED, "records of a deleted"),
        (ChangedItem(kind=ItemKind.STEP, group="g", name="s"), present(7), REFUSED, "kohort migrate PLAN.yaml"),
        (replace(OFFSET, partition=None), present(7), REFUSED, "the entry does not contain its partition"),
        (replace(SETTING, group="a\0b"), present(7), REFUSED, "the entry does not contain its group"),
        (replace(OFFSET, before="x"), present(7), REFUSED, "the entry contains 'x', which is not a number"),
        (replace(FEATURE, before=40_000), present(7), REFUSED, "40000, which is not a number from 0 to 32767"),
        (replace(DELETED, group=None), present(7), REFUSED, "the entry does not contain its group"),
        (CREATED, replace(present(7), groups={}), AS_BEFORE, None),
        (CREATED, present(7), REFUSED, "it has offsets that the change did not set: orders-0"),
        (DELETED, present(7), AS_BEFORE, None),
        (DELETED, replace(present(7), groups={}), REFUSED, "it exists when a member joins"),
        (DELETED, replace(present(7), unread_groups={"g": "no answer"}), UNREAD, "no answer"),
    ],
)  # fmt: skip
def test_each_item_has_a_verdict(
    item: ChangedItem, now: PresentState, verdict: ItemVerdict, remark: str | None
) -> None:
    ((judgment, _, why),) = judged(now, item)
    assert judgment is verdict, why
    assert why is None if remark is None else remark in (why or ""), why


@pytest.mark.parametrize(("offset", "verdict"), [(3, AS_BEFORE), (7, RESTORE), (9, REFUSED), (None, REFUSED)])
def test_an_unknown_result_is_decided_by_what_the_cluster_has(
    offset: int | None, verdict: ItemVerdict
) -> None:
    ((judgment, now, why),) = judged(present(offset), OFFSET, result=ItemOutcome.UNKNOWN)
    assert (judgment, now) == (verdict, offset)
    shown = "none" if offset is None else offset
    assert verdict is not REFUSED or f"was 3, would be 7, is {shown}" in (why or "")


def test_what_failed_has_nothing_to_restore() -> None:
    assert judged(present(7), OFFSET, SETTING, result=ItemOutcome.FAILED) == []


def test_a_group_is_restored_with_its_offsets() -> None:
    gone = replace(present(None), groups={})
    assert [row[0] for row in judged(gone, DELETED, CLEARED)] == [RESTORE, RESTORE]
    expired = replace(gone, positions=Positions(earliest={PLACE: 4}, end={PLACE: 20}))
    assert [row[0] for row in judged(expired, DELETED, CLEARED)] == [REFUSED, REFUSED]
    assert [row[0] for row in judged(present(7), CREATED, SET)] == [RESTORE, RESTORE]
