"""The application of Kafka Streams whose plan is rehearsed: its tasks, its processes with their state, and the release
and `upgrade.from` of each thread, as far as the threads' data shows them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from coordinator.consumer.library import AfterError
from coordinator.simulation.scenario import MemberScript, StreamsScript
from groups.classic_streams import StreamsThread, streams_threads
from groups.counts import counted
from groups.group_spec import WhatIf
from groups.model import Topic
from groups.streams_releases import FIRST_RELEASES, OLDEST_COOPERATIVE
from groups.streams_tasks import StreamsRequest, tasks_input
from migration.model import Destination, Plan
from migration.rehearsal.simulated_members import (
    CannotRehearseError,
    FoundGroup,
    SimulatedApplication,
    SimulatedMember,
    SimulatedMembers,
)

_EAGER_BY = "2.3"  # The `upgrade.from` of a thread that is assumed to be eager


def with_application(
    simulated: SimulatedMembers, plan: Plan, found_group: FoundGroup, request: StreamsRequest
) -> SimulatedMembers:
    """The members as threads of the application. Raises CannotRehearseError: what its tasks need is not known; the
    message says what, and how to provide it."""
    threads = streams_threads(found_group.group)
    # Next to a release before 2.4, a newer one must be eager.
    is_eager = plan.destination is Destination.COOPERATIVE or any(map(_is_old, threads))
    members = {
        thread.member.id: _as_thread(simulated.members[thread.member.id], thread, is_eager)
        for thread in threads
    }
    application, unknown = _application(found_group, found_group.topics, members, request)
    remarks = (*simulated.remarks, *unknown, *_remarks(plan, threads, members))
    return replace(simulated, members=members, remarks=remarks, application=application)


def _application(
    found_group: FoundGroup,
    topics: Mapping[str, Topic],
    members: Mapping[str, SimulatedMember],
    request: StreamsRequest,
) -> tuple[SimulatedApplication, list[str]]:
    try:
        found = tasks_input(found_group.group, topics, WhatIf(), request)
    except LookupError as error:
        raise CannotRehearseError(str(error)) from None
    threads = tuple(replace(thread, id=members[thread.id].name) for thread in found.spec.threads)
    processes: dict[str, tuple[str, ...]] = {}
    for thread in threads:
        process = str(thread.process)
        processes[process] = (*processes.get(process, ()), thread.id)
    application = SimulatedApplication(
        script=StreamsScript(topology="", processes=processes), observed=replace(found.spec, threads=threads)
    )
    names = {id_: member.name for id_, member in members.items()}
    return application, [f"{names.get(one.subject, one.subject)}: {one.why}" for one in found.undetermined]


def _as_thread(member: SimulatedMember, thread: StreamsThread, is_assumed_eager: bool) -> SimulatedMember:
    version = thread.newest_known or thread.used
    hides = thread.rebalancing is None and not _is_old(thread)
    script = replace(
        member.script,
        release=None if version is None else FIRST_RELEASES.get(version),
        upgrade_from=_EAGER_BY if hides and is_assumed_eager else None,
        after_error=AfterError.DIE.value,
    )
    return replace(member, script=script)


def _is_old(thread: StreamsThread) -> bool:
    version = thread.newest_known or thread.used
    return version is not None and version < OLDEST_COOPERATIVE


def _remarks(
    plan: Plan, threads: Sequence[StreamsThread], members: Mapping[str, SimulatedMember]
) -> Iterator[str]:
    hidden = [thread for thread in threads if thread.rebalancing is None]
    if hidden:
        scripts: list[MemberScript] = [members[thread.member.id].script for thread in hidden]
        assumed = f"upgrade.from={_EAGER_BY}" if scripts[0].upgrade_from else "no upgrade.from"
        yield f"{counted(len(hidden), 'thread')} did not show upgrade.from: rehearsed with {assumed}"
    hiding = [thread for thread in threads if thread.subscription and thread.newest_known is None]
    if hiding:
        release = members[hiding[0].member.id].script.release
        yield (
            f"{counted(len(hiding), 'thread')} did not show the release, as before 2.0 or by upgrade.from up to 1.1: "
            f"rehearsed as Kafka Streams {release}"
        )
    if any(map(_is_old, threads)):
        yield (
            "tasks that a leader before 2.6 assigns are computed as by the sticky assignor of 4.3: which thread gets "
            "which one may differ"
        )
    starts = [step.rollout.start for step in plan.steps if step.rollout and step.rollout.start]
    if newer := next((start.release for start in starts if start.release is not None), None):
        yield f"the newer release is rehearsed as Kafka Streams {newer}"
    yield "a restarted instance has the state on its disk"
