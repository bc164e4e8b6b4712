"""Rules about committed offsets: outside the log, of another topic, missing, or about to expire."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

from groups.commits import timed_commits
from groups.counts import counted, first_names
from groups.diagnosis import case as cases
from groups.diagnosis.lag import has_offsets, is_alone, is_consuming
from groups.findings import Finding
from groups.model import Group, TopicPartition, commit_of, each_partition, log_of, logs_of
from groups.settings import OFFSETS_RETENTION
from groups.times import format_moment, seconds_text
from groups.use import unsubscribed_topics


@cases.rule(
    "topic-recreated",
    source="KAFKA-4095; OffsetCommitValue v4",
    needs=(cases.Need.OFFSETS, cases.Need.TOPICS),
    applies=has_offsets,
)
def topic_recreated(case: cases.DiagnosisCase) -> Iterator[Finding]:
    """Proved by the topic id in the commit, or by the topic's id, which has changed since the first observation."""
    partitions = sorted(_of_another_topic(case))
    if not partitions:
        return
    yield cases.error(
        message=f"{first_topics(partitions)} was deleted and created again after the group committed: its offsets in "
        f"{cases.names(partitions)} belong to the old topic.",
        remedy="Stop the group and reset these offsets; otherwise records of the new topic may be skipped, or "
        f"auto.offset.reset applies: kohort offsets reset {case.in_shell} --topic {partitions[0][0]} --to-earliest.",
        evidence={"partitions": cases.all_names(partitions)},
    )


_NO_ID = UUID(int=0)


def _of_another_topic(case: cases.DiagnosisCase) -> set[TopicPartition]:
    partitions: set[TopicPartition] = set()
    known: set[TopicPartition] = set()  # those whose commits have an id
    for partition, commit in timed_commits(case.offsets):
        topic, own = case.topics.get(partition[0]), commit.topic_id
        if topic is not None and topic.id is not None and own is not None and own != _NO_ID:
            known.add(partition)
            if own != topic.id and commit.offset is not None and commit.offset >= 0:
                partitions.add(partition)
    for name, numbers, _ in cases.committed(case):
        topic, first = case.topics.get(name), case.first_topics.get(name)
        if topic is None or first is None or topic.id is None or first.id in (None, topic.id):
            continue
        for partition in {(name, number) for number in numbers} - known:
            commits = (commit_of(group.offsets, partition) for _, group in case.seen)
            if len({one.offset for one in commits if one is not None}) == 1:
                partitions.add(partition)
    return partitions


def first_topics(partitions: list[TopicPartition]) -> str:
    topics = sorted({topic for topic, _ in partitions})
    return topics[0] if len(topics) == 1 else f"{topics[0]} and {len(topics) - 1} more"


@cases.rule(
    "records-lost",
    source="Fetcher, OFFSET_OUT_OF_RANGE; redpanda-data/console#18843",
    needs=(cases.Need.OFFSETS, cases.Need.START_OFFSETS),
    applies=has_offsets,
)
def records_lost(case: cases.DiagnosisCase) -> Iterator[Finding]:
    """Below the log start in the first and last observation of the topics; without members, the last is enough."""
    earlier = case.first_topics if case.group.members else case.topics
    lost: dict[TopicPartition, int] = {}
    for topic, numbers, offsets in cases.committed(case):
        before, now = logs_of(earlier, topic).start, logs_of(case.topics, topic).start
        for number, offset in zip(numbers, offsets, strict=True):
            start = now.get(number)
            if start is None or offset < start:
                first = before.get(number)
                known = [one for one in (first, start) if one is not None]
                if known and offset < min(known):
                    lost[topic, number] = min(known) - offset
    if not lost:
        return
    total = sum(lost.values())
    level = cases.error if case.group.members else cases.warning
    yield level(
        message=f"The committed offset is below the log start in {counted(len(lost), 'partition')}: "
        f"{cases.names(lost)}. {counted(total, 'record')} were deleted before the group read them.",
        remedy="auto.offset.reset decides where consumers continue: earliest reads the records that are left, latest "
        "skips them too. Or reset the offsets while the group is stopped: kohort offsets reset "
        f"{case.in_shell} --topic {min(lost)[0]} --to-earliest. Raise retention.ms if the group needs longer.",
        evidence={"partitions": cases.all_names(lost), "records_lost": total},
    )


@cases.rule(
    "beyond-end",
    source="strimzi/strimzi-kafka-operator#9269; KAFKA-4095",
    needs=(cases.Need.OFFSETS, cases.Need.END_OFFSETS),
    applies=has_offsets,
)
def beyond_end(case: cases.DiagnosisCase) -> Iterator[Finding]:
    """The topic was deleted and created again, the log was truncated, or the offset was set manually."""
    beyond: dict[TopicPartition, int] = {}
    for topic, numbers, offsets in cases.committed(case):
        ends = logs_of(case.topics, topic).end
        for number, offset in zip(numbers, offsets, strict=True):
            end = ends.get(number)
            if end is not None and offset > end:
                beyond[topic, number] = offset - end
    for proved in _of_another_topic(case) if beyond else ():
        beyond.pop(proved, None)
    if not beyond:
        return
    yield cases.error(
        message=f"The committed offset is above the log end in {counted(len(beyond), 'partition')}: "
        f"{cases.names(beyond)}, by up to {max(beyond.values()):,}. {first_topics(list(beyond))} was probably deleted "
        "and created again; otherwise the log was truncated (unclean leader election), or the offset was set manually.",
        remedy="Consumers that start there follow auto.offset.reset: latest skips the records of the new log. Stop the "
        "group and reset these offsets: "
        f"kohort offsets reset {case.in_shell} --topic {min(beyond)[0]} --to-earliest.",
        evidence={"partitions": cases.all_names(beyond), "above_the_end_by": max(beyond.values())},
    )


@cases.rule(
    "never-committed",
    source="KIP-1327; apache/kafka#22784",
    needs=(cases.Need.MEMBERS, cases.Need.OFFSETS, cases.Need.END_OFFSETS),
    applies=is_consuming,
)
def never_committed(case: cases.DiagnosisCase) -> Iterator[Finding]:
    """Without an offset while others have one: with `latest`, earlier records of the partition are not read."""
    known = {(topic, number) for topic, numbers, _ in cases.committed(case) for number in numbers}
    if not known:
        return  # it keeps its offsets elsewhere
    missing: dict[TopicPartition, int] = {}
    bare = _owned(case.group) - known - case.pending
    for partition in bare.intersection(*(_owned(seen) for _, seen in case.seen)) if bare else ():
        log, commit = log_of(case.topics, partition), commit_of(case.offsets, partition)
        unreadable = commit is not None and commit.offset is None
        if log.end is not None and log.end > (log.start or 0) and not unreadable:
            missing[partition] = log.end - (log.start or 0)
    if not missing:
        return
    yield cases.warning(
        message=f"{counted(len(missing), 'partition')} with records {'has' if len(missing) == 1 else 'have'} no "
        f"committed offset: {cases.names(missing)}; {counted(sum(missing.values()), 'record')}. With "
        "auto.offset.reset=latest, records that were produced before the consumers found the partition are skipped, "
        "and after a restart the others too.",
        remedy="Set auto.offset.reset=earliest, at least while partitions are added (KIP-1327). To read these records, "
        f"stop the group and reset it to the start: kohort offsets reset {case.in_shell} "
        f"--topic {min(missing)[0]}:{min(missing)[1]} --to-earliest.",
        evidence={"partitions": cases.all_names(missing), "records": sum(missing.values())},
    )


def _owned(group: Group) -> set[TopicPartition]:
    return {place for member in group.members for place in each_partition(member.owned)}


@cases.rule(
    "offsets-expiring",
    source="KIP-496; offsets.retention.minutes",
    needs=(cases.Need.OFFSETS, cases.Need.COMMIT_TIMES, cases.Need.RETENTION),
    applies=is_alone,
)
def expiring(case: cases.DiagnosisCase) -> Iterator[Finding]:
    """For groups without members. A classic group's retention starts when it became empty, after the last commit."""
    retention_ms = int(case.brokers_setting(OFFSETS_RETENTION) or 0) * 60_000
    now_ms = case.last.at_ms
    due = {
        partition: commit.timestamp + retention_ms
        for partition, commit in timed_commits(case.offsets)
        if commit.timestamp is not None
        and commit.offset is not None
        and commit.offset >= 0
        and commit.timestamp + retention_ms - now_ms < case.thresholds.expiry_ms
    }
    if not due:
        return
    first_ms = min(due.values())
    in_s = max(first_ms - now_ms, 0) / 1000
    yield cases.warning(
        message=f"The group has no members, and its offsets expire: those of {counted(len(due), 'partition')} in "
        f"{seconds_text(in_s)} at the earliest. After that, auto.offset.reset decides where its consumers start.",
        remedy="Start a consumer before that, or raise offsets.retention.minutes of the brokers. To be able to restore "
        f"the offsets, save them: kohort snapshot {case.in_shell} --file FILE.",
        evidence={
            "partitions": cases.all_names(due),
            "expires": format_moment(first_ms),
            "retention_minutes": retention_ms // 60_000,
        },
    )


@cases.rule("left-over-offsets", source="KIP-496", needs=(cases.Need.OFFSETS,), applies=is_consuming)
def left_over(case: cases.DiagnosisCase) -> Iterator[Finding]:
    """Their lag grows without end and monitoring counts it; brokers delete such offsets when they expire."""
    unsubscribed = unsubscribed_topics(replace(case.group, offsets=case.offsets)) or ()
    left = [
        (topic, number)
        for topic, numbers, _ in cases.committed(case)
        if topic in unsubscribed
        for number in numbers
    ]
    if not left:
        return
    topics = sorted({topic for topic, _ in left})
    lag = sum(cases.unread(case, partition) for partition in left)
    yield cases.note(
        message=f"The group has offsets of {counted(len(topics), 'topic')} that no member subscribes to: "
        f"{first_names(topics)}; their lag: {lag:,}.",
        remedy=f"If they are no longer needed, delete them: kohort offsets delete {case.in_shell} "
        f"--topic {','.join(topics)}. This loses the group's positions: a member that subscribes again "
        "follows auto.offset.reset.",
        evidence={"partitions": cases.all_names(left), "lag": lag},
    )
