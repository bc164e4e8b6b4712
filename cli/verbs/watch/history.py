"""The past of groups in a recording, as the records of a log would show it, but coarser.

Nothing is known of what happened between two observations, so a rebalance starts with the observation that first shows
it, and ends with the first one at which the group is settled again; several rebalances may appear as one, which the
epochs of a consumer group show (`skipped`). A member that is gone has left, or its session has expired: an observation
never shows which. A commit has the time of the observation that first shows its offset. Brokers do not report the
generations of classic groups: their rebalances have the epoch 0.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from cli.sources.history.read import GroupHistoryRead
from cli.verbs.watch.events import Place, owners_of, subscription_names
from cli.verbs.watch.recording import Recording, read_recording
from cli.verbs.watch.state import WatchedGroup, WatchState, owners_are_shown
from groups.history.causes import RebalanceCause
from groups.history.commits import Commits
from groups.history.course import Course
from groups.history.events import Departure, Holding, MemberRecord, PastRebalance, Protocol, Verdict
from groups.history.holders import Holders
from groups.listing import Cause, Problem
from groups.model import Group, GroupState, GroupType, Member
from groups.times import duration_text, format_moment

_US_PER_MS = 1000
_NO_PARTITION = -1  # of the log, which was not read
_MOST_MISSED = 4  # a longer time between two observations, in their usual distance, is reported as a gap
_LEAST_GAP_MS = 10_000
_UNSEEN = "left, or its session expired: observations do not show which"


def read_recorded_history(
    file: Path,
    groups: Sequence[str],
    *,
    since_ms: int,
    has_name: Callable[[str], bool] | None = None,
) -> GroupHistoryRead:
    """The past of the named groups, or of all that `has_name` accepts, in a recording. Raises RecordingError."""
    recording = read_recording(file)
    observed = dict.fromkeys(name for one in recording.observations for name in one.groups)
    names = groups if has_name is None else [name for name in observed if has_name(name)]
    problems = [
        Problem(subject=name, message=f"no observation of it in {file}", cause=Cause.ABSENT, group=name)
        for name in names
        if name not in observed
    ]
    whole_from_ms, notices = _gaps(recording, since_ms)
    courses = {}
    for name in names:
        kinds = {group.type for one in recording.observations if (group := one.groups.get(name)) is not None}
        if others := kinds - {GroupType.CLASSIC, GroupType.CONSUMER}:
            notices.append(
                f"{name} is a {min(kind.value for kind in others)} group, which has no such history"
            )
        elif name in observed:
            courses[name] = _course(name, recording, whole_from_ms * _US_PER_MS)
    return GroupHistoryRead(
        source=str(file),
        since=since_ms * _US_PER_MS,
        until=recording.observations[-1].at_ms * _US_PER_MS,
        courses=courses,
        problems=problems,
        notices=[*recording.notices, *notices],
    )


def _gaps(recording: Recording, since_ms: int) -> tuple[int, list[str]]:
    """The time from which observations followed one another as they should, and notices about gaps."""
    most_ms = max(_MOST_MISSED * recording.header.every_ms, _LEAST_GAP_MS)
    reached = [observation for observation in recording.observations if observation.groups]
    whole_from_ms, notices = reached[0].at_ms if reached else since_ms, []
    for before, after in pairwise(reached):
        if after.asked_ms - before.at_ms > most_ms:
            missing = duration_text(after.asked_ms - before.at_ms)
            notices.append(f"nothing was observed for {missing} from {format_moment(before.at_ms)} on")
            whole_from_ms = after.at_ms
    return max(whole_from_ms, since_ms), notices


def _course(name: str, recording: Recording, whole_from: int) -> Course:
    state, observed = WatchState(), _ObservedGroup(name)
    for number, observation in enumerate(recording.observations):
        before = state.groups.get(name)
        state, _ = state.step(observation)
        if name in observation.groups:
            observed.step(before, state.groups[name], number)
    return observed.finish(whole_from)


@dataclass(slots=True)
class _Open:
    """A rebalance that is not over: what it started from, and since when it is observed."""

    since: int
    base: Group | None
    base_owners: Mapping[Place, tuple[str, ...]]
    members: dict[str, MemberRecord] = field(default_factory=dict)


class _ObservedGroup:
    def __init__(self, name: str) -> None:
        self._name = name
        self._rebalances: list[PastRebalance] = []
        self._holdings: list[Holding] = []
        self._holders = Holders(name, self._holdings.append)
        self._commits: list[tuple[Place, int, int, int]] = []
        self._committed: dict[Place, int] = {}
        self._members: dict[str, MemberRecord] = {}
        self._first: dict[str, int] = {}  # when each member was first observed
        self._last: dict[str, int] = {}
        self._open: _Open | None = None

    def step(self, before: WatchedGroup | None, after: WatchedGroup, number: int) -> None:
        """Add an observation that read the group; `number` counts the observations."""
        time, group = after.at_ms * _US_PER_MS, after.merged
        if self._open is None and before is not None and _differs(before.merged, group):
            owners = owners_of(before.merged) if before.merged else {}
            self._open = _Open(since=time, base=before.merged, base_owners=owners)
        for member in group.members if group else ():
            self._members[member.id] = _record(member)
            self._first.setdefault(member.id, time)
            self._last[member.id] = time
        self._note_owners(after, time)
        self._note_commits(group, time, number)
        if self._open is not None and _is_settled(after.shown):
            self._rebalances.append(self._rebalance(self._open, group, time, number))
            self._open = None

    def finish(self, whole_from: int) -> Course:
        self._holders.finish()
        return Course(
            group=self._name,
            rebalances=tuple(self._rebalances),
            holdings=tuple(sorted(self._holdings, key=lambda holding: (holding.since, holding.place))),
            commits=Commits.of(self._commits),
            members=self._members,
            complete_since=whole_from,
        )

    def _note_owners(self, after: WatchedGroup, time: int) -> None:
        group = after.merged
        epoch = (group.group_epoch if group else None) or 0
        owners = owners_of(group) if group else {}
        for place in after.unowned:
            self._holders.release(place, epoch, time)
        for place, ids in owners.items():
            self._holders.take(place, self._members[ids[0]], epoch, time)
        known = owners.keys() | after.unowned.keys()
        self._holders.give_up_on([place for place in self._holders.everything() if place not in known], time)

    def _note_commits(self, group: Group | None, time: int, number: int) -> None:
        for topic, partitions in ((group.offsets or {}) if group else {}).items():
            for partition, commit in partitions.items():
                place, offset = (topic, partition), commit.position
                if offset is not None and self._committed.get(place) != offset:
                    self._committed[place] = offset
                    self._commits.append((place, time, offset, number))

    def _rebalance(self, opened: _Open, group: Group | None, time: int, number: int) -> PastRebalance:
        before, after = _by_identity(opened.base), _by_identity(group)
        owners = owners_of(group) if group else {}
        left = [member for identity, member in before.items() if identity not in after]
        joined = [member for identity, member in after.items() if identity not in before]
        moved = [place for place, ids in owners.items() if opened.base_owners.get(place, ids) != ids]
        stays = {member.id for identity, member in before.items() if identity in after}
        revoked = [p for p, ids in opened.base_owners.items() if ids[0] in stays and owners.get(p) != ids]
        departures = tuple(self._departure(opened, member) for member in left)
        kind = (group or opened.base or Group(id="", type=GroupType.CLASSIC, state=GroupState.EMPTY)).type
        return PastRebalance(
            group=self._name,
            partition=_NO_PARTITION,
            offset=number,
            protocol=Protocol.CLASSIC if kind is GroupType.CLASSIC else Protocol.CONSUMER,
            epoch=(group.group_epoch if group else None) or 0,
            start=opened.since,
            end=time,
            causes=_causes(opened, group, left=bool(left), joined=bool(joined)),
            assignor=group.protocol if group else None,
            members_before=len(before),
            members=len(after),
            joined=tuple(member.id for member in joined),
            left=tuple(member.id for member in left),
            partitions=len(owners),
            moved=len(moved),
            revoked=len(revoked),
            skipped=_skipped(opened.base, group),
            departures=departures,
            verdicts=tuple(
                Verdict(member=departure.member, cause=RebalanceCause.UNKNOWN, why=_UNSEEN)
                for departure in departures
            ),
        )

    def _departure(self, opened: _Open, member: Member) -> Departure:
        classic = opened.base is not None and opened.base.type is GroupType.CLASSIC
        return Departure(
            record=self._members.get(member.id) or _record(member),
            protocol=Protocol.CLASSIC if classic else Protocol.CONSUMER,
            seen=self._last.get(member.id, opened.since),
            earliest=self._last.get(member.id, opened.since),
            at=opened.since,
            waited_for=False,
            places={
                place: self._first.get(member.id, opened.since)
                for place, ids in opened.base_owners.items()
                if ids[0] == member.id
            },
        )


def _is_settled(shown: Group | None) -> bool:
    if shown is None or not shown.members:
        return True
    return shown.state is GroupState.STABLE and owners_are_shown(shown)


def _differs(before: Group | None, after: Group | None) -> bool:
    """Whether a rebalance took place, or takes place, between two observations."""
    if before is None or after is None:
        return any(group.members for group in (before, after) if group is not None)
    if not before.members and not after.members:
        return False
    settled = after.state is GroupState.STABLE or not after.members
    same = before.type is after.type and before.group_epoch == after.group_epoch
    ids = [{member.id for member in group.members} for group in (before, after)]
    return not (settled and same and ids[0] == ids[1] and owners_of(before) == owners_of(after))


def _causes(opened: _Open, group: Group | None, *, left: bool, joined: bool) -> tuple[RebalanceCause, ...]:
    base = opened.base
    causes = {RebalanceCause.UNKNOWN} if left else set()
    causes |= {RebalanceCause.JOIN} if joined else set()
    if base is not None and group is not None:
        subscriptions = {member.id: subscription_names(member) for member in base.members}
        if base.type is not group.type:
            causes.add(RebalanceCause.CONVERSION)
        if None not in (base.protocol, group.protocol) and base.protocol != group.protocol:
            causes.add(RebalanceCause.ASSIGNOR)
        if any(
            None not in (subscriptions.get(member.id), subscription_names(member))
            and subscriptions[member.id] != subscription_names(member)
            for member in group.members
        ):
            causes.add(RebalanceCause.SUBSCRIPTION)
        if not causes and opened.base_owners.keys() != owners_of(group).keys():
            causes.add(RebalanceCause.METADATA)
    return tuple(cause for cause in RebalanceCause if cause in causes) or (RebalanceCause.UNKNOWN,)


def _skipped(before: Group | None, after: Group | None) -> int | None:
    """The epochs that no observation shows; None: unknown, as for classic groups."""
    epochs = [group.group_epoch if group else None for group in (before, after)]
    if None in epochs:
        return None
    return max((epochs[1] or 0) - (epochs[0] or 0) - 1, 0)


def _by_identity(group: Group | None) -> dict[str, Member]:
    members = group.members if group else ()
    return {f"instance {m.instance}" if m.instance else m.id: m for m in members if not m.is_away}


def _record(member: Member) -> MemberRecord:
    subscription = member.subscription
    return MemberRecord(
        member=member.id,
        instance=member.instance,
        client_id=member.client.id,
        host=member.client.host,
        topics=None if subscription is None else frozenset(subscription.topics),
        regex=subscription.regex if subscription else None,
    )
