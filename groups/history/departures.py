"""Why a member departed: it left, or its session expired. A coordinator writes the same records for both; the commits
of the member's partitions, and what else is known, may prove one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from groups.history.causes import RebalanceCause
from groups.history.commits import CommitView
from groups.history.events import Departure, PastRebalance, Verdict

LOOK_AHEAD_US: Final = 15_000_000
"""The time for a successor's progress: automatic commits are 5 s apart."""
_SECOND_US: Final = 1_000_000
_RHYTHMS: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What is known of a group beyond its log."""

    session_timeout_ms: int | None = None  # of members of the consumer protocol: a setting, or a statement
    heartbeat_interval_ms: int | None = None  # likewise
    commits_by_hand: bool | None = None  # whether its members commit only when their program calls for it
    present_at: Mapping[str, int] = field(
        default_factory=dict
    )  # when each member was last observed in the group
    absent_at: Mapping[str, int] = field(
        default_factory=dict
    )  # when each member was first observed to be gone


NOTHING: Final = Knowledge()


def judge(departure: Departure, commits: CommitView, knowledge: Knowledge = NOTHING) -> Verdict:
    """Why a member departed, as far as it is proven. `commits`: of its group, until `LOOK_AHEAD_US` after it."""
    if departure.away is not None:
        return Verdict(
            member=departure.member, cause=RebalanceCause.EXPIRY, why="it closed, and did not return in time"
        )
    recent = {place: commits.recent(place, departure.at) for place in departure.places}
    times = sorted({commit.time for before in recent.values() for commit in before})
    own = [time for time in times if time >= departure.since]
    session_ms = departure.record.session_timeout_ms or knowledge.session_timeout_ms
    progressed = any(
        (then := commits.first_after(place, departure.at)) is not None
        and before
        and then.offset > before[-1].offset
        for place, before in recent.items()
    )
    rhythm = max((later - earlier for earlier, later in pairwise(own)), default=0)
    limit = max(_SECOND_US, _RHYTHMS * rhythm) if session_ms is None else session_ms * 1000
    was_at_work = bool(own) or (session_ms is not None and progressed)
    if was_at_work and times and departure.at - times[-1] >= limit:
        silence = (departure.at - times[-1]) / _SECOND_US
        return Verdict(
            member=departure.member, cause=RebalanceCause.EXPIRY, why=f"no commit for {silence:.1f} s"
        )
    return Verdict(member=departure.member, cause=RebalanceCause.LEAVE, why="it was not silent before")


def judged(rebalance: PastRebalance, commits: CommitView, knowledge: Knowledge = NOTHING) -> PastRebalance:
    """A rebalance with the verdicts of its departures, and the causes that follow from them."""
    if not rebalance.departures:
        return rebalance
    verdicts = tuple(judge(departure, commits, knowledge) for departure in rebalance.departures)
    causes = set(rebalance.causes) - {RebalanceCause.LEAVE, RebalanceCause.EXPIRY}
    causes |= {verdict.cause for verdict in verdicts}
    in_order = tuple(cause for cause in RebalanceCause if cause in causes)
    return replace(rebalance, causes=in_order, verdicts=verdicts)
