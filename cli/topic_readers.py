"""Select the groups that read a topic: `--topic`."""

from collections.abc import Sequence
from typing import TypeAlias

from cli.output import notice
from cli.sources.source import ReadResult, Source
from groups.listing import Problem
from groups.model import Group
from groups.use import TopicUse, topic_use

Uses: TypeAlias = dict[str, dict[str, TopicUse]]  # How a group reads a topic, by group and topic


def readers_of(
    read: ReadResult[Group], topics: Sequence[str], *, named: bool
) -> tuple[ReadResult[Group], Uses]:
    """The groups that read any of the topics; it is a problem if this is not known, or a named group does not."""
    uses: Uses = {}
    problems = list(read.problems)
    for group in read.items:
        by_topic = {topic: use for topic in topics if (use := topic_use(group, topic)) is not None}
        known = {topic: use for topic, use in by_topic.items() if use is not TopicUse.UNKNOWN}
        if known:
            uses[group.id] = {**known}
        elif by_topic and all(problem.group != group.id for problem in problems):
            why = "its committed offsets are not known"
            if group.members:
                why = f"its members' subscriptions are not shown while it is {group.state.value}"
            message = f"whether it reads {' or '.join(by_topic)} is not known: {why}"
            problems.append(Problem(subject=group.id, message=message, group=group.id))
        elif not by_topic and named:
            message = f"does not read {' or '.join(topics)}"
            problems.append(Problem(subject=group.id, message=message, group=group.id))
    return ReadResult(tuple(group for group in read.items if group.id in uses), tuple(problems)), uses


def notify_missing_topics(source: Source, topics: Sequence[str]) -> None:
    """If no group reads the topics, print notices of topics that do not exist or may not exist."""
    read = source.topics(topics, end_offsets=False)
    for problem in read.problems:
        notice(f"{problem.subject}: {problem.message}")
    known = {topic.name for topic in read.items}.union(*(problem.topics for problem in read.problems))
    for topic in topics:
        if topic not in known:
            notice(f"{topic}: no such topic in {source.name}")
