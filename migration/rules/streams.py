"""Rules about Kafka Streams on the classic protocol.

It is eager before 2.4; cooperative up to 3.9 unless `upgrade.from` is 2.3 or lower (KIP-429), which 4.0 refuses
(KAFKA-18839, tried). Its assignor's user data shows the release, and what `groups.classic_streams` says of
`upgrade.from`.
"""

import re
from collections.abc import Iterator

from assignors.streams import STREAMS
from groups import classic_streams
from groups.counts import first_names, share
from groups.findings import Finding
from groups.listing import shown_id
from groups.streams_releases import COOPERATIVE_SINCE, EAGER_UNTIL, OLDEST_COOPERATIVE
from groups.times import format_moment
from migration.clients import MemberClient, Version, is_surely_older, is_surely_since
from migration.model import Destination
from migration.rules.case import Case, named

MOST_TASKS = 5
_KIP = "KIP-429, Compatibility and Upgrade Path: Streams; KAFKA-18839 (apache/kafka pull 18988)"


def is_streams(case: Case) -> bool:
    return classic_streams.is_classic_streams(case.group)


def has_arrived(case: Case) -> bool:
    """Whether the application's releases, or what each thread has shown, are those of its destination."""
    versions = _versions(case)
    shown = {thread.rebalancing for thread in classic_streams.streams_threads(case.group)}
    if case.destination is Destination.COOPERATIVE:
        is_newer = all(version is not None and is_surely_since(version, EAGER_UNTIL) for version in versions)
        return is_newer or shown == {classic_streams.Rebalancing.COOPERATIVE}
    if case.destination is Destination.EAGER:
        return all(map(is_always_eager, versions)) or shown == {classic_streams.Rebalancing.EAGER}
    return False


def is_always_eager(version: Version | None) -> bool:
    return version is not None and is_surely_older(version, COOPERATIVE_SINCE)


def old_releases(case: Case) -> dict[str | None, bool | None]:
    """Whether each member runs a release before 2.4: by its known version, else by its data. None: unknown."""
    threads = {thread.member.id: thread for thread in classic_streams.streams_threads(case.group)}
    return {member: _is_old(client, threads.get(member or "")) for member, client in case.clients.items()}


def _is_old(client: MemberClient, thread: classic_streams.StreamsThread | None) -> bool | None:
    if client.version is not None:
        return is_always_eager(client.version)
    newest = None if thread is None else thread.newest_known
    return None if newest is None else newest < OLDEST_COOPERATIVE


def _versions(case: Case) -> set[Version | None]:
    return {client.version for client in case.clients.values()}


def streams_is_not_converted(case: Case) -> Iterator[Finding]:
    if is_streams(case) and case.destination is Destination.CONSUMER:
        yield case.blocker(
            "streams",
            message=f"{shown_id(case.group.id)} is a Kafka Streams application (its assignor is "
            f"{STREAMS!r}): it moves tasks by its own rules, and the broker refuses to convert it."
            f"{_faulty(case)}",
            remedy="Never configure another assignor in Streams. To move to the streams protocol, stop all instances "
            "and set group.protocol=streams, on brokers 4.2.1 or later (KIP-1071).",
            source="KIP-1071; KAFKA-20254 (apache/kafka pulls 21638 and 21641); apache/kafka pull 18046",
        )


def _faulty(case: Case) -> str:
    """A note on the fault of brokers 4.2.0; the feature level shows 4.2 for every patch release."""
    match = re.match(r"4\.2(\.\d+)?(?!\d)", case.cluster.kafka or "")
    if match is None or match.group(1) not in (None, ".0"):
        return ""
    which = "The brokers are 4.2.0: their" if match.group(1) else "If the brokers are 4.2.0, their"
    fault = "move from classic to streams groups has a critical fault (KAFKA-20254)"
    return f" {which} {fault}. Upgrade them to 4.2.1 first."


def streams_support_the_change(case: Case) -> Iterator[Finding]:
    versions = _versions(case)
    newest = sorted(version for version in versions if version and is_surely_since(version, EAGER_UNTIL))
    if case.destination is Destination.EAGER and newest:
        yield case.blocker(
            "streams",
            message=f"{shown_id(case.group.id)} is a Kafka Streams application, and releases from 4.0 on have no eager "
            "rebalancing: they refuse to start with upgrade.from=2.3 or lower.",
            remedy="Stay cooperative. Only Kafka Streams 2.4 to 3.9 can go back to eager.",
            source=_KIP,
        )
        return
    old = old_releases(case)
    if newest and any(old.values()):
        yield case.blocker(
            "streams",
            message="Some instances run Kafka Streams before 2.4, others 4.0 or later: they cannot work together.",
            remedy="Move all instances to a release from 3.5 to 3.9 first; from there, 4.0 is one rolling restart.",
            source=_KIP,
        )
    if None in old.values():
        yield case.warning(
            "streams",
            message=f"{shown_id(case.group.id)} is a Kafka Streams application, and its release is unknown: before "
            "2.4 it is eager, from 4.0 on it is cooperative, and in between upgrade.from decides.",
            remedy="Set it: --client java:VERSION (of kafka-streams).",
            source=_KIP,
        )
    elif not all(old.values()):
        yield case.info(
            "streams",
            message=f"{shown_id(case.group.id)} is a Kafka Streams application. It is cooperative unless "
            f"upgrade.from is 2.3 or lower.{_shown_protocols(case)}",
            remedy="Check upgrade.from of every instance. Never configure another assignor in Streams.",
            source=_KIP,
        )


def _shown_protocols(case: Case) -> str:
    """What the threads' data shows of `upgrade.from`."""
    threads = classic_streams.streams_threads(case.group)
    if not any(thread.subscription for thread in threads):
        return " This source does not show which."
    kept = sum(thread.rebalancing is classic_streams.Rebalancing.COOPERATIVE for thread in threads)
    eager = [
        thread.member.id for thread in threads if thread.rebalancing is classic_streams.Rebalancing.EAGER
    ]
    shown = [
        f"{share(kept, len(threads), 'thread', ('has', 'have'))} kept partitions in a rebalance, as only a "
        "cooperative one does"
    ]
    if eager:
        shown.append(f"eager by an old release, or by upgrade.from up to 1.1: {named(case, eager)}")
    return f" {'; '.join(shown)}."


def threads_have_no_error(case: Case) -> Iterator[Finding]:
    errors: dict[int, list[str]] = {}
    for thread in classic_streams.streams_threads(case.group):
        if thread.error:
            errors.setdefault(thread.error, []).append(thread.member.id)
    for code, members in errors.items():
        yield case.blocker(
            "streams-error",
            members=members,
            message=f"Kafka Streams reports {classic_streams.error_name(code)}: "
            f"{classic_streams.MEANINGS.get(code, 'an error that Kafka 4.4 does not know')}.",
            remedy=f"Resolve it first: kohort diagnose {case.group.id}.",
            source="AssignorError of Kafka Streams",
        )


def versions_agree(case: Case) -> Iterator[Finding]:
    """Instances of several releases, or a change of the version that is not complete."""
    threads = classic_streams.streams_threads(case.group)
    newest = sorted({thread.newest_known for thread in threads if thread.newest_known is not None})
    probing = classic_streams.probing_threads(case.group)
    if probing:
        yield case.warning(
            "streams-versions",
            members=[thread.member.id for thread in probing],
            message=f"The threads know version {newest[0]} of the assignor's data, and not all use it: the rebalance "
            "that ends an upgrade is missing.",
            remedy="Wait for it, and plan again. If it does not come, restart these threads (kohort diagnose).",
            source="KIP-268, Version Probing",
        )
    elif len(newest) > 1:
        known = " and ".join(
            f"{version} ({classic_streams.release_text(version)})" for version in (newest[0], newest[-1])
        )
        yield case.info(
            "streams-versions",
            members=[thread.member.id for thread in threads if thread.newest_known == newest[0]],
            message=f"Instances of several releases: their threads know versions up to {known}. An upgrade is in "
            "progress.",
            remedy="These are the older ones. A gate of the first bounce is closed as long as one is before 2.4.",
            source="KIP-268, Version Probing",
        )


def named_copies(case: Case) -> tuple[list[str], list[str]]:
    """The active tasks with state: those with a copy on another process, and on which thread; those without."""
    held = classic_streams.copies(classic_streams.streams_threads(case.group))
    where = [
        f"{task} on {named(case, [thread.member.id for thread in holders])}"
        for task, holders in held.items()
        if holders
    ]
    return where, [str(task) for task, holders in held.items() if not holders]


def copies_take_over(case: Case) -> Iterator[Finding]:
    """KIP-429, the note on secondary resources: an active task goes to who holds the copy, and to others when warm."""
    where, without = named_copies(case)
    total = len(where) + len(without)
    if not total:
        return
    listed = f": {first_names(where, MOST_TASKS)}" if where else ""
    lacking = f" Without one: {first_names(without, MOST_TASKS)}." if without else ""
    threads = classic_streams.streams_threads(case.group)
    probes = [thread.probes_at_ms for thread in threads if thread.probes_at_ms is not None]
    due = f" The next probing rebalance is due at {format_moment(min(probes))}." if probes else ""
    yield case.info(
        "streams-standby",
        message=f"{share(len(where), total, 'task', ('with state has', 'with state have'))} a standby copy on "
        f"another process{listed}.{lacking} When an instance stops, the active task goes to who holds the copy; "
        f"without one, its state is restored from the changelog first.{due}",
        remedy="An instance that returns gets its tasks back when its copies are warm, in a probing rebalance "
        "(probing.rebalance.interval.ms, 10 minutes by default; from 2.6 on). With num.standby.replicas=1 every task "
        "has a copy.",
        source="KIP-429, Note on secondary resources; KIP-441",
    )


def queries_are_affected(case: Case) -> Iterator[Finding]:
    if case.destination is Destination.COOPERATIVE:
        yield case.info(
            "streams-queries",
            message="Streams spends less time in the state REBALANCING: it enters it only at the end of a rebalance. "
            "Stores stay open for interactive queries, and the restoration of tasks continues.",
            remedy="Review every StateListener that treats REBALANCING as the start of a rebalance.",
            source=_KIP,
        )
    else:
        yield case.warning(
            "streams-queries",
            message="Streams is in the state REBALANCING from the start of each rebalance to its end. All tasks are "
            "revoked, and stores are closed to interactive queries meanwhile.",
            remedy="Have callers of interactive queries retry; review every StateListener.",
            source=_KIP,
        )
