"""Kafka Streams on the classic protocol: to cooperative rebalancing and back, by `upgrade.from`.

From a release before 2.4, the first restart brings the newer release with `upgrade.from` set to the old one, which
keeps it eager, and the second removes it. The rollback is one restart with `upgrade.from` between 2.0 and 2.3: eager
and cooperative members may mix, as long as all are of 2.4 or later (KIP-429; both directions tried on 4.3.1).
"""

from collections.abc import Sequence

from assignors.streams import STREAMS
from groups.classic_streams import Rebalancing, instance_of, streams_threads
from groups.counts import first_names
from groups.model import Member
from groups.streams_releases import FIRST_RELEASES, OLDEST_COOPERATIVE
from migration import model
from migration.clients import version_text
from migration.paths import path as dangers
from migration.paths.path import Path, PathContext, Rounds, all_back
from migration.paths.stop_and_start import START, stop_all
from migration.rules.streams import MOST_TASKS, is_always_eager, named_copies, old_releases
from wire.messages.streams_assignor import OLDEST_WITH_NEWEST_KNOWN

FIRST, SECOND, ONLY = "first-bounce", "second-bounce", "only-bounce"
_OLD = "2.3"
_NEWER = "3.9.1"  # The newest release that can be eager


def by_upgrade_from(context: PathContext) -> Path:
    """The restarts that are necessary for the instances' releases."""
    if context.case.destination is model.Destination.EAGER:
        return Path(name="upgrade.from", steps=(_eager(context),), alternatives=(_STAY,))
    if context.is_empty:
        return Path(name="start", steps=(_cooperative(context, id=START),))
    if context.case.request.offline:
        return Path(name="stop and start", steps=(stop_all(context), _cooperative(context, id=START)))
    if any(is_old is not False for is_old in old_releases(context.case).values()):
        steps = (_newer(context), _cooperative(context, id=SECOND))
        return Path(name="upgrade.from in two bounces", steps=steps, alternatives=(_STOP,))
    return Path(name="upgrade.from", steps=(_cooperative(context, id=ONLY),), alternatives=(_STAY,))


def _newer(context: PathContext) -> model.Step:
    value = _oldest(context)
    known = value is not None
    threads = streams_threads(context.case.group)
    has_cooperative = any(thread.rebalancing is Rebalancing.COOPERATIVE for thread in threads)
    return _bounce(
        context,
        id=FIRST,
        title="First bounce: a newer Kafka Streams that stays eager",
        actions=(
            "Start every instance with Kafka Streams 2.4 to 3.9 (3.5 or later is best) and upgrade.from. Do not use "
            "4.0 or later: it has no eager rebalancing.",
            *(() if known else (_WHERE_OLD,)),
        ),
        config=(
            f"upgrade.from={value or _OLD}",
            *(() if known else ("# the release that runs now, if it is older",)),
        ),
        start=model.MemberStart(assignors=(STREAMS,), release=_NEWER, upgrade_from=value or _OLD),
        shown=None if _hides(context) else model.StreamsRelease(knows=OLDEST_COOPERATIVE),
        # A cooperative thread from before this step is restarted in one of its rounds.
        always=() if has_cooperative else (model.StreamsRebalancing(protocol=Rebalancing.EAGER),),
        expect="The group stays eager: all instances revoke their tasks in each rebalance.",
        rollback="Start the instances with the old release again, without upgrade.from."
        + (_UNREADABLE if context.has_static else ""),
    )


_UNREADABLE = (
    " A static one must be away until its session has expired (session.timeout.ms): before that it gets the "
    "assignment of its predecessor, and the old release dies on it: `Unable to decode assignment data: used version: "
    "11`."
)
"""Tried with 2.3.1 after 3.9.1."""


def _oldest(context: PathContext) -> str | None:
    """The oldest release of the instances, if it is before 2.4: by their versions, else by their threads' data."""
    versions = [client.version for client in context.case.clients.values()]
    old = min((version for version in versions if version), default=None)
    if old is not None:
        return version_text(old[:2]) if is_always_eager(old) else None
    if _hides(context):
        used = {thread.used for thread in streams_threads(context.case.group)}
        return "0.10.0" if 1 in used else "1.1"
    newest = [thread.newest_known for thread in streams_threads(context.case.group)]
    known = [version for version in newest if version is not None]
    if not known or len(known) < len(newest) or min(known) >= OLDEST_COOPERATIVE:
        return None
    return FIRST_RELEASES.get(min(known))


def _hides(context: PathContext) -> bool:
    """Whether a thread sends version 1 or 2, which hide the release: one before 2.0, or `upgrade.from` of one."""
    used = [thread.used for thread in streams_threads(context.case.group)]
    return any(version is not None and version < OLDEST_WITH_NEWEST_KNOWN for version in used)


_WHERE_OLD = "Skip this step if every instance runs 2.4 or later already."


def _cooperative(context: PathContext, *, id: str) -> model.Step:
    title, action = _WITHOUT[id]
    gets_newer = id == START and not all(is_old is False for is_old in old_releases(context.case).values())
    return _bounce(
        context,
        id=id,
        title=title,
        actions=(action,),
        config=("# remove: upgrade.from",),
        start=model.MemberStart(assignors=(STREAMS,), release=_NEWER if gets_newer else None),
        shown=model.StreamsRebalancing(protocol=Rebalancing.COOPERATIVE),
        always=_without_old_releases(context),
        expect="Restarted instances keep the tasks that do not move; the others still revoke all of theirs.",
        rollback=f"Set upgrade.from={_OLD} again and restart the instances one by one: they are eager again (not with "
        "4.0 or later).",
        at_once=id == START,
    )


_WITHOUT = {
    SECOND: (
        "Second bounce: remove upgrade.from",
        "Start only when every instance runs 2.4 or later: older releases do not support a cooperative rebalance.",
    ),
    ONLY: (
        "The only bounce: remove upgrade.from",
        "Remove upgrade.from wherever it is 2.3 or lower. An instance without it is cooperative already, but restart "
        "it too, so that the check can verify every instance.",
    ),
    START: (
        "Start all instances without upgrade.from",
        "Start every instance with Kafka Streams 2.4 or later, without upgrade.from.",
    ),
}
"""The title and the actions of each step."""


def _eager(context: PathContext) -> model.Step:
    old = old_releases(context.case)
    return _bounce(
        context,
        members=[member for member in context.members if not old.get(member.id)],
        id=ONLY,
        title="The only bounce: set upgrade.from, which keeps Streams eager",
        actions=(
            "Set upgrade.from on every instance (Kafka Streams 2.4 to 3.9), and keep it set: as long as it is 2.3 or "
            "lower, Streams is eager.",
        ),
        config=(f"upgrade.from={_OLD}", "# 2.0 to 2.3: a lower one keeps Streams on an old metadata version"),
        start=model.MemberStart(assignors=(STREAMS,), upgrade_from=_OLD),
        shown=model.StreamsRebalancing(protocol=Rebalancing.EAGER),
        expect="Restarted instances revoke all their tasks in each rebalance; the others keep the tasks that do not "
        "move.",
        rollback="Remove upgrade.from and restart the instances one by one.",
    )


def _without_old_releases(context: PathContext) -> tuple[model.Condition, ...]:
    """A condition that an instance of a release before 2.4 violates, if the threads show their releases."""
    threads = streams_threads(context.case.group)
    is_shown = bool(threads) and all(thread.newest_known is not None for thread in threads)
    return (model.StreamsRelease(knows=OLDEST_COOPERATIVE),) if is_shown else ()


def _bounce(
    context: PathContext,
    *,
    id: str,
    title: str,
    actions: tuple[str, ...],
    config: tuple[str, ...],
    start: model.MemberStart,
    shown: model.Condition | None,
    always: tuple[model.Condition, ...] = (),
    expect: str,
    rollback: str,
    members: Sequence[Member] | None = None,
    at_once: bool = False,
) -> model.Step:
    """A restart of all instances, or of those with `members`; `shown` is what the threads' data shows at its end,
    `always` after each round."""
    data = f"{_SHOWN[type(shown)]} (kohort describe --members)" if shown else "its log shows the release"
    rounds = _by_instance(context, context.members if members is None else members, at_once=at_once)
    action = model.RoundAction.START if at_once else model.RoundAction.RESTART
    next_round = "Start the next round only after the check of this one has exited with status 0."
    # Whether members were replaced is not known of those that join an empty group.
    back = [one for one in all_back(context) if not (at_once and isinstance(one, model.Replaced))]
    settled = (*back, model.ProtocolIs(protocol=STREAMS), *always)
    return model.Step(
        id=id,
        title=title,
        actions=(
            *actions,
            *_copies(context),
            "A member is a stream thread: an instance restarts with all its threads. Stop it, wait until its process "
            "has exited, then start it with the lines below.",
            *((next_round,) if len(rounds.names) > 1 else ()),
        ),
        round_action=action,
        rounds=rounds.names,
        rollout=rounds.rollout(action, start) if rounds.ids else None,
        config=("# Kafka Streams", *config),
        expect=f"{expect} A stopped instance does not leave the group: its members stay in it until their sessions "
        "expire (session.timeout.ms: 45 s by default, 10 s before 3.0), and its tasks wait until then. After that each "
        "active task goes to the process with its standby copy, if there is one; an instance that returns gets it back "
        "when its own copy is warm (a probing rebalance, from 2.6 on).",
        complete_when=f"The group is Stable, every member has rejoined under a new id, and {data}. upgrade.from "
        "up to 1.1 shows as version 1 or 2 of the assignor's data, from 2.0 to 2.3 only in a rebalance: an eager "
        "thread rejoins without partitions. At its start an instance (2.4 to 3.9) logs `Eager rebalancing protocol is "
        "enabled now for upgrade from 2.3.x`, or `Cooperative rebalancing protocol is enabled now`.",
        between=settled,
        gate=settled if shown is None else (*settled, shown),
        dangers=(
            model.Risk(
                what="upgrade.from is 2.3 or lower with Kafka Streams 4.0 or later.",
                symptom="The instance does not start: `ConfigException: Invalid value 2.3 for configuration "
                "upgrade.from`. The check reports that members are missing.",
                then="Start it with 3.9 or earlier, or without upgrade.from if all others run 2.4 or later.",
            ),
            *dangers.between_rounds(rounds),
        ),
        rollback=rollback,
    )


def _copies(context: PathContext) -> tuple[str, ...]:
    """Which copies take over, if the threads' data shows any."""
    where, _ = named_copies(context.case)
    if not where:
        return ()
    return (
        f"Tasks with state continue where their standby copies are: {first_names(where, MOST_TASKS)}. Before the next "
        "round, wait until the restarted instance is RUNNING (its log) and no probing rebalance is due: "
        "kohort describe --members.",
    )


def _by_instance(context: PathContext, members: Sequence[Member], *, at_once: bool) -> Rounds:
    """Rounds of whole instances: the threads of an instance restart together; their client ids differ in a number."""
    instances: dict[str, list[Member]] = {}
    for member in context.ordered(members):
        instances.setdefault(instance_of(member.client.id) or member.id, []).append(member)
    size = len(instances) if at_once else context.case.request.concurrency
    named = list(instances.values())
    together = [
        [member for instance in named[start : start + size] for member in instance]
        for start in range(0, len(named), size or 1)
    ]
    ids = tuple(tuple(member.id for member in members) for members in together)
    return Rounds(names=tuple(map(context.name, together)), ids=ids)


_SHOWN = {
    model.StreamsRelease: "every thread knows the data of 2.4 or later",
    model.StreamsRebalancing: "no thread has shown the other protocol",
}
"""What is shown at the end of a step, in words."""
_STAY = model.Alternative(
    title="No change",
    why_not="upgrade.from alone decides, and not every thread has shown it. If it is already right on every instance, "
    "there is nothing to do.",
)
_STOP = model.Alternative(
    title="Stop all instances, start all instances",
    why_not="Nothing is processed meanwhile. It needs one restart of each instance instead of two, and no "
    "upgrade.from.",
)
