"""Internal topics of streams groups that are deleted with a change, only by an option: selection, display, deletion.

As in kafka-streams-groups, only topics that the group's topology lists and that are named after the application.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from cli.changing import GROUPS_NAMED, ClusterChange, Outcome
from cli.errors import UsageError
from cli.options import InternalTopicOptions
from cli.output import notice
from cli.render.document import Table, columns
from cli.sources.source import ReadResult, Source
from cli.sources.writer import ClusterWriter
from groups.counts import counted, first_names
from groups.model import GroupType, Problem, Topic
from groups.offsets.model import PlannedChange

P = TypeVar("P", bound=PlannedChange)


def with_internal_topics(source: Source, plans: Sequence[P], options: InternalTopicOptions) -> tuple[P, ...]:
    """The plans with the internal topics to delete; UsageError for a named topic that is not one of these groups'."""
    known = {plan.group: _known(plan) for plan in plans}
    named = set(options.delete_internal_topic or ())
    if named and options.delete_all_internal_topics:
        raise UsageError("--delete-all-internal-topics and --delete-internal-topic cannot be used together")
    names = {topic for topics in known.values() for topic in topics}
    if named - names:
        listed = ", ".join(sorted(names)) or "none"
        raise UsageError(
            f"--delete-internal-topic {min(named - names)}: not an internal topic of these groups; theirs: {listed}"
        )
    others = [plan.group for plan in plans if plan.described.type is not GroupType.STREAMS]
    if others and (named or options.delete_all_internal_topics):
        notice(
            f"{first_names(others, GROUPS_NAMED)}: only streams groups have known internal topics; none is deleted"
        )
    read: ReadResult[Topic] = source.topics(names, end_offsets=False) if names else ReadResult(())
    existing = {topic.name: topic.id for topic in read.items}
    new_plans = []
    for plan in plans:
        topics = known[plan.group]
        chosen = {
            name: kind for name, kind in topics.items() if options.delete_all_internal_topics or name in named
        }
        staying = sorted(topics.keys() & existing.keys() - chosen.keys())
        if plan.applicable and staying:
            notice(
                f"{plan.group}: its internal topics are kept: {', '.join(staying)}. A restarted application restores "
                "its state from them; --delete-all-internal-topics (of delete and offsets reset) deletes them"
            )
        missing = named & chosen.keys() - existing.keys()
        new_plans.append(
            replace(
                plan,
                internal_topics={name: kind for name, kind in chosen.items() if name in existing},
                topic_ids={name: existing[name] for name in chosen if name in existing},
                problems=(
                    *plan.problems,
                    *(read.problems if chosen else ()),
                    *[
                        Problem(subject=f"{plan.group}, {topic}", message="no such topic")
                        for topic in sorted(missing)
                    ],
                    *(_unknown(plan) if options.delete_all_internal_topics else ()),
                ),
            )
        )
    return tuple(new_plans)


def _known(plan: PlannedChange) -> dict[str, str]:
    group = plan.described
    if group.type is not GroupType.STREAMS or group.topology is None:
        return {}
    return group.topology.internal_topics(group.id)


def _unknown(plan: PlannedChange) -> Iterator[Problem]:
    if plan.described.type is GroupType.STREAMS and plan.described.topology is None:
        message = (
            "its topology is not known, so its internal topics are unknown; run the command without "
            "--delete-internal-topic and --delete-all-internal-topics"
        )
        yield Problem(subject=plan.group, message=message)


def topics_in_question(plans: Iterable[PlannedChange]) -> str:
    """The topics in a confirmation: `2 internal topics`, or an empty text."""
    count = sum(len(plan.internal_topics) for plan in plans)
    return counted(count, "internal topic") if count else ""


def delete_topics_of(change: ClusterChange[P], writer: ClusterWriter) -> Iterator[Outcome]:
    """Delete the internal topics of each group whose change was completely made; their outcome."""
    undone = {group for (group, _), failed in (change.outcome or {}).items() if failed is not None}
    plans = [plan for plan in change.plans_to_apply if plan.group not in undone and plan.internal_topics]
    owners = {topic: plan.group for plan in plans for topic in plan.internal_topics}
    if owners:
        deleted = writer.delete_topics(
            {topic: ids for plan in plans for topic, ids in plan.topic_ids.items()}
        )
        yield {(owners[topic], topic): failed for topic, failed in deleted.items()}


def topic_tables(plans: Sequence[PlannedChange]) -> list[Table]:
    rows = [
        (plan.group, topic, kind) for plan in plans for topic, kind in sorted(plan.internal_topics.items())
    ]
    return [Table(columns=columns("GROUP", "INTERNAL-TOPIC", "KIND"), rows=rows)] if rows else []


def topics_data(change: ClusterChange[Any], plan: PlannedChange) -> dict[str, object]:
    """The field of a streams group in a change's document; empty for other groups."""
    if plan.described.type is not GroupType.STREAMS:
        return {}
    topics = [
        {"topic": topic, "kind": kind, "deleted": change.applied(plan.group, topic)}
        for topic, kind in sorted(plan.internal_topics.items())
    ]
    return {"internal_topics": topics}
