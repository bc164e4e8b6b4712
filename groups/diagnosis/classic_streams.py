"""Rules about Kafka Streams on the classic protocol, from its assignor's user data (KIP-429, KIP-441)."""

from collections.abc import Iterator, Sequence
from functools import partial

from groups.classic_streams import (
    MEANINGS,
    common_version,
    error_name,
    is_classic_streams,
    probing_threads,
    release_text,
    streams_threads,
)
from groups.counts import share
from groups.diagnosis.case import DiagnosisCase, Least, Need, error, note, rule, warning
from groups.findings import Finding
from groups.model import Group
from groups.times import duration_text

OVERDUE_MS = 60_000
"""How late a probing rebalance may be: clocks differ, and a thread checks the time between two polls."""
_REMEDIES = {
    1: "Create the topic, or correct the topology; then restart the instances.",
    2: "Restart the instances of the older release last, or set upgrade.from on the newer ones.",
    3: "Search the log of the leader (kohort describe --migration names it) for the exception.",
    4: "Search the logs of all instances for the first uncaught exception; then restart them.",
}


@rule("streams-error", source="AssignorError of Kafka Streams", applies=is_classic_streams)
def streams_error(case: DiagnosisCase) -> Iterator[Finding]:
    by_error: dict[int, list[str]] = {}
    for thread in streams_threads(case.group):
        if thread.error:
            by_error.setdefault(thread.error, []).append(thread.member.id)
    for code, members in sorted(by_error.items()):
        yield error(
            message=f"Kafka Streams reports {error_name(code)} ({case.named(members)}): "
            f"{MEANINGS.get(code, 'an error that Kafka 4.4 does not know')}.",
            remedy=_REMEDIES.get(code, "Search the logs of the instances."),
            members=tuple(members),
            since_ms=case.since_ms(partial(_reports, code)),
            evidence={"error": error_name(code), "code": code},
        )


def _reports(code: int, group: Group) -> bool:
    return any(thread.error == code for thread in streams_threads(group))


@rule(
    "streams-version-probe",
    source="KIP-268; StreamsPartitionAssignor.maybeUpdateSubscriptionVersion",
    least=Least(
        ms=lambda limits: limits.rebalance_ms, may_hide=lambda case: bool(probing_threads(case.group))
    ),
    applies=is_classic_streams,
)
def version_probe(case: DiagnosisCase) -> Iterator[Finding]:
    """A warning; an error if the versions have stayed apart for longer than a rebalance may last."""
    common = common_version(streams_threads(case.group))
    stuck = probing_threads(case.group)
    if not stuck:
        return
    since = case.since_ms(lambda group: bool(probing_threads(group)))
    lasted_ms = case.lasted_ms(since)
    used = sorted({thread.used for thread in stuck if thread.used is not None})
    yield (error if lasted_ms >= case.thresholds.rebalance_ms else warning)(
        message=f"All threads of Kafka Streams know version {common} of the assignor's data, and "
        f"{case.named([thread.member.id for thread in stuck])} "
        f"{'uses' if len(stuck) == 1 else 'use'} {_listed(used)}: "
        "the rebalance in which they change has not happened.",
        remedy="A thread changes its version in the rebalance after the last old instance has left. If it does not "
        "end, restart the threads that use another version.",
        members=tuple(thread.member.id for thread in stuck),
        since_ms=since,
        evidence={"common": common, "used": tuple(used), "observed_for_s": lasted_ms / 1000},
    )


@rule("streams-versions", source="KIP-268; KIP-429, Streams", applies=is_classic_streams)
def mixed_versions(case: DiagnosisCase) -> Iterator[Finding]:
    threads = streams_threads(case.group)
    held = [thread.member.id for thread in threads if thread.used in (1, 2)]
    newest = sorted({thread.newest_known for thread in threads if thread.newest_known is not None})
    if len(newest) > 1 or (held and newest):
        lowest = (
            [one.member.id for one in threads if one.newest_known == newest[0]] if len(newest) > 1 else held
        )
        versions = [f"{version} ({release_text(version)})" for version in newest]
        yield note(
            message=f"Instances of several releases of Kafka Streams: the newest versions that threads know are "
            f"{_listed(versions)}{', and some show none' if held else ''}. The oldest: {case.named(lowest)}.",
            remedy="Complete the upgrade: the group uses the version of its oldest member until then.",
            members=tuple(lowest),
            evidence={"newest_known": tuple(newest), "held_back": len(held)},
        )
    elif held:
        yield note(
            message=f"{share(len(held), len(threads), 'thread', ('uses', 'use'))} version 1 or 2 of the assignor's "
            "data: upgrade.from is 1.1 or lower, or the release is before 2.0. They are eager, and have no probing "
            "rebalances.",
            remedy="When all instances run the newer release, remove upgrade.from and restart them one by one.",
            members=tuple(held),
            evidence={"newest_known": (), "held_back": len(held)},
        )


def _listed(values: Sequence[object]) -> str:
    *first, last = map(str, values)
    return f"{', '.join(first)} and {last}" if first else last


@rule(
    "streams-probe-overdue",
    source="KIP-441, Probing Rebalances",
    needs=(Need.TWO_OBSERVATIONS,),  # of a snapshot the time is not known
    applies=is_classic_streams,
)
def probe_overdue(case: DiagnosisCase) -> Iterator[Finding]:
    now_ms = case.observations[-1].at_ms
    for thread in streams_threads(case.group):
        late_ms = now_ms - (thread.probes_at_ms or now_ms)
        if late_ms > OVERDUE_MS:
            label = case.named([thread.member.id])
            yield warning(
                message=f"{label} had to trigger a probing rebalance {duration_text(late_ms)} ago: tasks stay where "
                "they are although their warm-ups may have caught up.",
                remedy="Check that the thread still processes records (its log, a thread dump). Restart it if not.",
                members=(thread.member.id,),
                evidence={"late_s": late_ms / 1000},
            )
