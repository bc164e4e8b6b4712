"""What is said of a group above its tables, the most important first: a small screen shows the beginning."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from cli.render.cells import safe_text
from cli.render.headings import role_of
from cli.render.lines import CUT, Line, Piece, Role, folded
from cli.verbs.describe.migration import leading_text, waits_text
from cli.verbs.top.group_rows import LEVEL_ROLES, rate_text
from cli.verbs.top.sight import SeenGroup, Sight
from cli.verbs.watch.event_text import epoch_words, places_text
from cli.verbs.watch.state import WatchedGroup, owners_are_shown
from groups.counts import counted, first_names
from groups.lag import longest_lag, total_lag
from groups.model import Group, GroupState, GroupType
from groups.times import duration_text
from groups.transactions import pending_text
from migration.inspection import Inspection, inspect

Sentence: TypeAlias = tuple[str, Role]
MOST_LINES = 2  # Of a sentence: all of it is on the screen of findings
SETTLED = (GroupState.STABLE, GroupState.EMPTY)


def group_on_screen(sight: Sight, name: str) -> Group | None:
    """The group, completed from earlier observations while a rebalance hides its owners."""
    watched = sight.watched.groups.get(name)
    if watched is not None:
        return watched.merged
    seen = sight.groups.get(name)
    return None if seen is None else seen.polled.group


def summary_lines(sight: Sight, name: str, width: int) -> list[Line]:
    group, seen = group_on_screen(sight, name), sight.groups.get(name)
    if group is None:
        return [(Piece(safe_text(_why_missing(sight, name, seen))),)]
    watched = sight.watched.groups.get(name)
    lines: list[Line] = [_state_line(group, watched)]
    if (
        seen is not None
        and seen.polled.rows()
        and (words := [*_lag_words(seen, is_past=sight.past_ms is not None)])
    ):
        lines.append((Piece("  ".join(words)),))
    for text, role in _sentences(sight, group, seen, watched):
        lines += _shortened(folded(safe_text(text), width, role))
    return lines


def _why_missing(sight: Sight, name: str, seen: SeenGroup | None) -> str:
    if seen is not None and seen.polled.error:
        return f"The group cannot be read: {seen.polled.error}"
    if name in sight.listings or sight.at_ms is None:
        return "reading the group …"
    return "There is no such group." if sight.past_ms is None else "The group did not exist then."


def _shortened(lines: Sequence[Line]) -> list[Line]:
    if len(lines) <= MOST_LINES:
        return list(lines)
    *before, (last,) = lines[:MOST_LINES]
    return [*before, (last._replace(text=f"{last.text[:-1]}{CUT}"),)]


def _state_line(group: Group, watched: WatchedGroup | None) -> Line:
    state = group.state.value
    words = [*epoch_words(group), *([group.protocol] if group.protocol else [])]
    words.append(counted(len(group.members), "member"))
    if watched is not None and watched.wanted:
        words.append(counted(len(watched.wanted), "partition"))
    kind = group.type.value if group.shares_partitions else f"{group.type.value} ({group.protocol_type})"
    rest = safe_text("".join(f"  {word}" for word in words))
    return (Piece(f"{safe_text(kind)}  "), Piece(state, role_of("STATE")(state)), Piece(rest))


def _lag_words(seen: SeenGroup, *, is_past: bool) -> Iterator[str]:
    lag = total_lag(row.lag for row in seen.polled.rows())
    if lag is not None or not is_past:
        yield "lag " + ("not known" if lag is None else counted(lag, "record"))
    lag_ms = longest_lag(seen.polled.rows()).ms
    if lag_ms is not None:
        yield f"the oldest unread is {duration_text(lag_ms)} old"
    progress = seen.history.progress
    if progress is not None and progress.committed_per_s is not None:
        yield f"reads {rate_text(progress.committed_per_s)}/s"
    if progress is not None and progress.produced_per_s is not None:
        yield f"written {rate_text(progress.produced_per_s)}/s"


def _sentences(
    sight: Sight, group: Group, seen: SeenGroup | None, watched: WatchedGroup | None
) -> Iterator[Sentence]:
    for text in sight.said if sight.log_of == group.id else ():
        yield text, Role.WARNING if group.state not in SETTLED else Role.PLAIN
    last = sight.watched.last
    for problem in (last.problems if last else ())[:1]:
        yield f"{problem.subject}: {problem.message}", Role.BAD
    yield from _verdict(sight, seen)
    if watched is not None:
        yield from _unowned(watched)
    pending = "" if group.pending is None else pending_text(group.pending, watched.at_ms if watched else None)
    if pending and not _is_said(pending, seen):
        yield pending, Role.BAD
    inspection = inspect(group)
    yield from _waits(inspection)
    is_hidden = watched is not None and watched.shown is not None and not owners_are_shown(watched.shown)
    if is_hidden and group.shares_partitions and group.type is GroupType.CLASSIC:
        yield "Brokers do not show who owns what during this rebalance: OWNS is from before.", Role.FAINT
    if inspection.succession is not None and (sight.past_ms is None or group.leader is not None):
        yield leading_text(inspection, inspection.succession), Role.PLAIN


def _is_said(sentence: str, seen: SeenGroup | None) -> bool:
    """Whether a finding begins like it."""
    diagnosis = seen.history.diagnosis if seen else None
    subject = sentence.partition(";")[0]
    return any(one.message.startswith(subject) for one in (diagnosis.findings if diagnosis else ()))


def _verdict(sight: Sight, seen: SeenGroup | None) -> Iterator[Sentence]:
    diagnosis = seen.history.diagnosis if seen else None
    if diagnosis is None:
        return
    if diagnosis.findings:
        worst, *others = diagnosis.findings
        more = f" ({len(others):,} more: f)" if others else ""
        yield f"{worst.level.value}: {worst.message}{more}", LEVEL_ROLES.get(worst.level, Role.PLAIN)
    elif sight.past_ms is None:
        yield "No problem found so far.", Role.GOOD


def _unowned(watched: WatchedGroup) -> Iterator[Sentence]:
    """Partitions without an owner; the longest without one are first."""
    since: dict[int, dict[str, list[int]]] = {}
    for (topic, number), gap in sorted(watched.unowned.items()):
        since.setdefault(gap.since_ms, {}).setdefault(topic, []).append(number)
    for at_ms in sorted(since):
        age = duration_text(max(watched.asked_ms - at_ms, 0))
        yield f"Without an owner for {age}: {places_text(since[at_ms])}", Role.BAD


def _waits(inspection: Inspection) -> Iterator[Sentence]:
    """Who waits for what; nothing for settled groups."""
    group = inspection.group
    if group.state in SETTLED or group.type not in (GroupType.CLASSIC, GroupType.CONSUMER):
        return
    labels = {member.member.id: member.label for member in inspection.members}
    together: dict[str, list[str]] = {}
    for member in inspection.members:
        if member.waits:
            together.setdefault(waits_text(member, labels) or "", []).append(member.label)
    for text, names in together.items():
        yield f"{first_names(names)} {doing_text(text, is_one=len(names) == 1)}", Role.WARNING


def doing_text(waits: str, *, is_one: bool = True) -> str:
    """`must revoke orders:2; then waits for …`: what is up to a member itself is not said to be waited for."""
    own = {"itself: to ": "must ", "itself: it leads": "leads", "itself: static": "is static"}
    parts = []
    for part in waits.split("; then "):
        begin = next((begin for begin in own if part.startswith(begin)), None)
        wait = f"wait{'s' * is_one} for {part}"
        parts.append(wait if begin is None else own[begin] + part.removeprefix(begin))
    text = "; then ".join(parts)
    return text if is_one else text.replace("unless it has", "unless they have")
