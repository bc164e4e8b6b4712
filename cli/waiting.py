"""Wait until groups have no members, before a change that requires it: `--wait-empty`."""

import time
from collections.abc import Container, Sequence

from cli.consent import ConsentOptions
from cli.output import notice
from cli.progress import show_step
from cli.sources.source import Source
from cli.times import milliseconds
from groups.counts import counted
from groups.listing import Cause, GroupType
from groups.model import Group
from groups.offsets.plan import is_active, named, stays_after_a_close
from groups.times import seconds_text
from wire.errors import WireError

POLL_S = 0.5  # Minimum pause between two describe requests, in seconds
LONGEST_POLL_S = 5.0  # Maximum pause; it is at least as long as describing the groups takes
_STAYING = (
    "static members, and those of Kafka Streams on the classic protocol, do not leave when they close: they remain "
    "members until their session expires (45 s by default) or kohort members remove removes them"
)


def wait_until_empty(
    source: Source, groups: Sequence[str], consent: ConsentOptions, *, leaving_out: Container[GroupType] = ()
) -> bool:
    """Wait until no group has members, at most as long as the options allow; each change is printed as a notice. Groups
    of the types `leaving_out` are ignored. Returns whether it had to wait: then the groups have changed. Dead counts as
    Empty: some brokers report no other state of a group without members. A cluster that does not answer is waited for
    too. Raises WireError: the cluster refuses, or does not answer when the time is up."""
    if consent.wait_empty is None or not groups:
        return False
    wait_s = milliseconds(consent.wait_empty, "--wait-empty") / 1000
    started = time.monotonic()
    pending, reported = list(groups), ""
    while True:
        asked_at = time.monotonic()
        try:
            pending, active = _not_empty(source, pending, leaving_out)
            line = _members_text(pending, active)
        except WireError as error:
            if error.is_refusal or asked_at >= started + wait_s:
                raise
            line, active = f"{_members_text(pending, ())}: {error}", []
        left_s = started + wait_s - time.monotonic()
        if not pending:
            if reported:
                notice(f"all members have left after {seconds_text(time.monotonic() - started)}")
            return bool(reported)
        if left_s <= 0:
            notice(f"timed out after {seconds_text(wait_s)} waiting for {line}")
            return True
        if line != reported:
            notice(f"waiting for {line}")
            if not reported and any(map(stays_after_a_close, active)):
                notice(_STAYING)
            reported = line
        show_step(f"waiting for {line}, {seconds_text(left_s)} left")
        time.sleep(min(left_s, LONGEST_POLL_S, max(POLL_S, time.monotonic() - asked_at)))


def _not_empty(
    source: Source, names: Sequence[str], leaving_out: Container[GroupType]
) -> tuple[list[str], list[Group]]:
    """The names of groups that may have members, and the groups that are known to have some."""
    read = source.describe(names, offsets=False)
    active = [item for item in read.items if is_active(item) and item.type not in leaving_out]
    unread = {problem.group for problem in read.problems if problem.cause is Cause.UNREAD}
    blockers = unread | {group.id for group in active}
    return [name for name in names if name in blockers], active


def _members_text(names: Sequence[str], active: Sequence[Group]) -> str:
    """`2 members of payments: …`; the groups alone if no member is known."""
    members = [member for group in active for member in group.members]
    what = counted(len(names), "group") if len(names) > 1 else "".join(names)
    return f"{counted(len(members), 'member')} of {what}: {named(members)}" if members else what
