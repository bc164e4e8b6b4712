"""Topic changes: created, changed and deleted topics bump the group epoch of subscribed consumer groups; their regexes
are resolved again.

A change only marks the groups. The next heartbeat of a member recomputes the hash of the subscribed topics, and if it
differs from the hash in the group's record, the group epoch is bumped (`next_epoch`).

A topic that is recreated under its name is a different topic, with another id.

Regexes are resolved in a separate step, never while a heartbeat is answered: a heartbeat sets the timer, and the
timer matches all regexes of the group against all topics. Two refreshes of a group are at least 10 s apart. A refresh
is due for an unresolved regex, a new topic, and every `group.consumer.regex.refresh.interval.ms`.

The matching itself is data for the caller, `calls.RegexRefresh`: it is linear in the names, and its memory is bounded
(groups.regex.broker), but a hostile regex still takes a millisecond per name, which a server spends in a thread.

A topic is not matched if the member whose heartbeat triggered the refresh may not describe it.

Source: GroupMetadataManager.onMetadataUpdate, maybeUpdateRegularExpressions, handleRegularExpressionsResult;
TopicRegexResolver.
"""

from collections.abc import Collection, Mapping, Set

from coordinator.engine import records as log
from coordinator.engine.calls import RegexRefresh
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import subscribed_names
from coordinator.engine.context import EngineContext
from coordinator.engine.offsets.removal import exists
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.engine.topics import TopicImage, metadata_hash


def topics_changed(ctx: EngineContext, image: TopicImage) -> None:
    """Replace the image of the topics, and delete the offsets of deleted topics."""
    old = ctx.topics
    ctx.topics = image
    if image.by_id.keys() - old.by_id.keys():
        ctx.new_topics_version = image.version
    elif ctx.new_topics_version == -1:
        ctx.new_topics_version = old.version
    changed = {
        name
        for name in old.topics.keys() | image.topics.keys()
        if old.topics.get(name) != image.topics.get(name)
    }
    for subscribed in ctx.state.groups.values():
        if isinstance(subscribed, ConsumerGroup) and not changed.isdisjoint(subscribed.subscribed_topics()):
            subscribed.refresh_metadata = True
    gone = {name: topic.id for name, topic in old.topics.items() if topic.id not in image.by_id}
    for group in dict.fromkeys((*ctx.state.offsets, *ctx.state.pending.groups())) if gone else ():
        committed = ctx.state.offsets.get(group, {}).items()
        for (topic, partition), value in [*committed, *ctx.state.pending.of_group(group)]:
            doomed = topic in gone and value.topic_id in (None, gone[topic])
            if doomed and exists(ctx.state, group, (topic, partition)):
                ctx.emit(log.OffsetRecord(group=group, topic=topic, partition=partition, value=None))


def next_epoch(
    ctx: EngineContext, group: ConsumerGroup, names: Collection[str], *, moves: bool
) -> log.ConsumerGroupRecord | None:
    """The record that bumps the group epoch if the request `moves` it or one of these topics has changed."""
    fingerprint = metadata_hash(names, ctx.topics)
    if not moves and fingerprint == group.metadata_hash:
        return None
    value = log.ConsumerGroupValue(epoch=group.epoch + 1, metadata_hash=fingerprint)
    return log.ConsumerGroupRecord(group=group.id, value=value)


MIN_INTERVAL_MS = 10_000


def refresh_is_due(ctx: EngineContext, group: ConsumerGroup, used: Set[str], *, unresolved: bool) -> bool:
    """Whether to resolve regexes: `used` by members after a heartbeat, of which one may be `unresolved`."""
    is_running = ctx.timers.deadline(TimerKey(TimerKind.REGEX, group.id)) is not None
    if not used or is_running or group.id in ctx.refreshing:
        return False
    last = next(iter(group.regexes.values()), None)
    if last is None:
        return True
    if ctx.now_ms <= last.resolved_ms + MIN_INTERVAL_MS:
        return False
    newest = ctx.topics.version if ctx.new_topics_version == -1 else ctx.new_topics_version
    return (
        unresolved
        or len(used) != len(group.regexes)
        or last.version < newest
        or last.version > ctx.topics.version  # numbered by another coordinator
        or ctx.now_ms > last.resolved_ms + ctx.config.group_consumer_regex_refresh_interval_ms
    )


def resolve_regexes(ctx: EngineContext, group: ConsumerGroup) -> None:
    """Match the group's regexes against all topics: at once, or by the caller (`Engine.matches_elsewhere`)."""
    regexes = tuple(sorted(group.regex_users))
    if not regexes:
        return
    refresh = RegexRefresh(
        group=group.id, regexes=regexes, topics=ctx.topics, may_describe=group.may_describe
    )
    if ctx.matches_elsewhere:
        ctx.refreshing[group.id] = refresh
        ctx.refreshes.append(refresh)
    else:
        put_regexes(ctx, group, refresh, refresh.match() or {})


def put_regexes(
    ctx: EngineContext, group: ConsumerGroup, refresh: RegexRefresh, matched: Mapping[str, tuple[str, ...]]
) -> None:
    """Store the topics of regexes that members still use; a changed result bumps the group epoch."""
    resolved = {
        regex: log.RegexValue(topics=topics, version=refresh.topics.version, resolved_ms=ctx.now_ms)
        for regex, topics in matched.items()
        if regex in group.regex_users
    }
    if not resolved:
        return
    moved = any(
        set(value.topics) != set(group.regexes[regex].topics if regex in group.regexes else ())
        for regex, value in resolved.items()
    )
    names = subscribed_names(group.members.values(), {**group.regexes, **resolved})
    epoch = next_epoch(ctx, group, names, moves=moved)
    ctx.emit(
        *(log.RegexRecord(group=group.id, regex=regex, value=value) for regex, value in resolved.items()),
        *(() if epoch is None else (epoch,)),
    )
    if epoch is not None:
        group.refresh_metadata = False
