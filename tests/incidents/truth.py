"""Compares the rebalances that a history names with what was done to the group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from groups.history.causes import RebalanceCause
from groups.history.course import Course
from groups.history.events import MemberRecord, PastRebalance
from tests.incidents.record import Played
from tests.incidents.stories import Caused, Claim

UNKNOWN = "unknown"
DEPARTURES = ("leave", "expiry")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A rebalance as a history names it. `claims`: its causes; those of members with the member's client id."""

    time_us: int
    claims: frozenset[Claim]
    whys: Sequence[str] = ()

    def contradicts(self, other: Named) -> bool:
        """Whether there is a difference other than that one of them does not know why a member departed."""
        vague = {(UNKNOWN, member) for _, member in self.claims ^ other.claims}
        differing = (self.claims ^ other.claims) - vague
        known = [claim for claim in differing if not {(UNKNOWN, claim[1])} & (self.claims | other.claims)]
        return self.time_us != other.time_us or bool(known)


@dataclass(slots=True)
class Score:
    """How many rebalances are named rightly; of the others, which are unknown, and which are wrong or missing."""

    right: int = 0
    unknown: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __iadd__(self, other: Score) -> Score:
        self.right += other.right
        self.unknown += other.unknown
        self.wrong += other.wrong
        return self


def compare(played: Played, rebalances: Iterable[Named]) -> Score:
    """Compare the rebalances of a story until its end."""
    score = Score()
    end_us = played.began_us + int(played.incident.scenario.until_s * 1e6)
    in_time = [rebalance for rebalance in rebalances if rebalance.time_us <= end_us]
    for caused, since_us, until_us in _windows(played, end_us):
        name = f"{played.incident.group} at {caused.at_s:g} s ({_text(caused.claims)})"
        rows = [rebalance for rebalance in in_time if since_us <= rebalance.time_us < until_us]
        claims: set[Claim] = set()
        for row in rows:
            claims |= row.claims
            doubts = {claim for claim in row.claims if claim[0] == UNKNOWN and claim not in caused.possible}
            false = {claim for claim in row.claims - doubts if claim not in caused.possible}
            false |= {claim for claim in doubts if not _departs(caused, claim[1])}
            at_s = (row.time_us - played.began_us) / 1e6
            line = f"{name}: {_text(row.claims)} at {at_s:.1f} s; {'; '.join(row.whys)}"
            if false:
                score.wrong.append(line)
            elif doubts or UNKNOWN in {cause for cause, _ in row.claims}:
                score.unknown.append(line)
            else:
                score.right += 1
        doubted = {member for cause, member in claims if cause == UNKNOWN}
        missing = {
            (cause, member)
            for cause, member in caused.claims - claims
            if not (cause in DEPARTURES and member in doubted)
        }
        if missing:
            score.wrong.append(f"{name}: {_text(missing)} is missing")
    return score


def _windows(played: Played, end_us: int) -> Iterator[tuple[Caused, int, int]]:
    starts = [played.began_us + int(caused.at_s * 1e6) for caused in played.incident.truth]
    return zip(played.incident.truth, starts, [*starts[1:], end_us + 1], strict=True)


def _departs(caused: Caused, member: str | None) -> bool:
    return any((cause, member) in caused.possible for cause in DEPARTURES)


def _text(claims: Iterable[Claim]) -> str:
    return ", ".join(f"{cause} {member or ''}".strip() for cause, member in sorted(claims, key=str)) or "none"


def named_by(course: Course) -> list[Named]:
    """The rebalances of a course with their causes."""
    return [
        Named(
            time_us=rebalance.end or rebalance.start or 0,
            claims=frozenset(_claims(rebalance, course.members)),
            whys=[f"{verdict.cause}: {verdict.why}" for verdict in rebalance.verdicts],
        )
        for rebalance in course.rebalances
    ]


def named_in(group: Mapping[str, Any]) -> list[Named]:
    """The rebalances of a group in the document of `kohort why --output json`."""
    return [
        Named(
            time_us=_us(rebalance["end"] or rebalance["start"]),
            claims=frozenset(_claims_in(rebalance)),
            whys=[f"{one['verdict']}: {one['why']}" for one in rebalance["evidence"]["departed"]],
        )
        for rebalance in group["rebalances"]
    ]


def _us(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1e6)


def _claims_in(rebalance: Mapping[str, Any]) -> Iterator[Claim]:
    joined = RebalanceCause.JOIN.value
    of_members = {
        (joined if one["change"] == "joined" else one["change"], one["client_id"])
        for one in rebalance["changes"]
    }
    yield from of_members
    for cause in set(rebalance["causes"]) - {cause for cause, _ in of_members} - {joined}:
        yield cause, None


def _claims(rebalance: PastRebalance, members: Mapping[str, MemberRecord]) -> Iterator[Claim]:
    for member in rebalance.joined:
        yield RebalanceCause.JOIN.value, members[member].client_id
    for verdict in rebalance.verdicts:
        yield verdict.cause.value, members[verdict.member].client_id
    in_doubt = {verdict.cause for verdict in rebalance.verdicts}
    for cause in set(rebalance.causes) - in_doubt - {RebalanceCause.JOIN}:
        yield cause.value, None
