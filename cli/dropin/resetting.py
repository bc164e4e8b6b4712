"""`--reset-offsets`: groups without members are set to other offsets, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from cli.dropin.connection import client_of
from cli.dropin.described import GROUP_ID_NOT_FOUND, Described, describe_each
from cli.dropin.errors import ToolFailure, ToolUsageError
from cli.dropin.java_maps import in_order, in_order_copied
from cli.dropin.kafka_errors import error_message, exception_text
from cli.dropin.logs import WRAPPED, Logs
from cli.dropin.options import Options
from cli.dropin.plan_file import read_plan
from cli.dropin.reading import committed_offsets, list_consumer_groups, raise_failure
from cli.dropin.refusals import status_of
from cli.dropin.reset_output import print_csv, print_table
from cli.dropin.scenarios import Target, new_offsets
from cli.dropin.topics import Topics
from cli.dropin.words import print_error
from cli.errors import ExitStatus
from groups.model import GroupState
from groups.offsets.model import Place
from groups.offsets.scenarios import name_of
from wire.client.answers import Failure
from wire.client.calls.offset_commit import NewOffset

if TYPE_CHECKING:
    from cli.sources.live import LiveSource

_UNKNOWN_TOPIC, _INVALID_TOPIC = 3, 17
_INACTIVE = (GroupState.EMPTY.value, GroupState.DEAD.value)


def run(options: Options, source: LiveSource) -> int:
    """Set offsets, or only tell them; the exit status.

    A failure ends the command where it comes up, as it ends the tool: groups that were set before stay set.
    """
    names = options.groups or [group.id for group in list_consumer_groups(source)]
    reset = _Reset(options, source)
    described = describe_each(reset.client, in_order_copied(in_order(names)), source.timeout_ms)
    resets = {name: reset.group(name, one) for name, one in described.items()}
    resets = {name: resets[name] for name in in_order(resets)}
    if options.export:
        print_csv(resets, with_group=len(options.groups) != 1)
    else:
        print_table(resets)
    return reset.status


class _Reset:
    """One command line on one cluster."""

    def __init__(self, options: Options, source: LiveSource) -> None:
        self.status = ExitStatus.DONE
        """What the exit status is to be, as far as it is known."""
        self.client = client_of(source, "kohort offsets reset")
        self._options, self._source = options, source
        self._topics = Topics(self.client, source.timeout_ms)
        self._logs = Logs(self.client, source.timeout_ms)

    def group(self, name: str, described: Described) -> Mapping[Place, int]:
        """Set one group, where that is asked for; its new offsets in the tool's order."""
        state = _state_of(described)
        if state not in _INACTIVE:
            print_error(
                f"Assignments can only be reset if the group '{name}' is inactive, "
                f"but the current state is {state}."
            )
            self.status = ExitStatus.REFUSED
            return {}
        places = self._scope(name)
        self._check(places)
        target = Target(
            places=places,
            logs=self._logs,
            committed=partial(self._committed, name),
            planned=partial(self._planned, name),
        )
        offsets = new_offsets(self._options, target)
        if self._options.execute and offsets:
            self._commit(name, offsets)
        return offsets

    def _scope(self, group: str) -> list[Place]:
        """The partitions that are meant, each once, in the tool's order."""
        if self._options.all_topics:
            return in_order(self._committed(group))
        if self._options.topics:
            return self._topics.meant(self._options.topics)
        if self._options.from_file is None:
            raise ToolUsageError("One of the reset scopes should be defined: --all-topics, --topic.")
        return []

    def _check(self, places: Sequence[Place]) -> None:
        """ToolFailure unless all of the partitions exist and are led."""
        raise_failure(self._topics.failures(in_order(topic for topic, _ in places)), prefix=WRAPPED)
        for found, what in (
            (self._topics.missing(places), "do not exist"),
            (self._topics.without_leader(places), "have no leader"),
        ):
            if found:
                raise ToolFailure(f'The partitions "{",".join(map(name_of, found))}" {what}')

    def _committed(self, group: str) -> dict[Place, int]:
        topics = committed_offsets(self._source, [group]).get(group, {})
        return {
            (topic, partition): committed.offset
            for topic, partitions in topics.items()
            for partition, committed in partitions.items()
            if committed.offset is not None
        }

    def _planned(self, group: str) -> Mapping[Place, int]:
        """What the file has for a group; an error is printed where that is nothing."""
        planned = self._plan.get(group)
        if planned is None:
            print_error(f"No reset plan for group {group} found")
            self.status = max(self.status, ExitStatus.UNREADABLE)
            return {}
        self._check_planned(in_order(planned))
        return planned

    @cached_property
    def _plan(self) -> Mapping[str, Mapping[Place, int]]:
        path = self._options.from_file
        return {} if path is None else read_plan(path, self._options.groups)

    def _check_planned(self, places: Sequence[Place]) -> None:
        self._topics.describe(topic for topic, _ in places)
        for place in places:
            failure = self._topics.failed.get(place[0])
            if failure is not None:
                raise ToolFailure(WRAPPED + exception_text(_unknown(place, failure)))
        self._check(places)

    def _commit(self, group: str, offsets: Mapping[Place, int]) -> None:
        wanted = {place: NewOffset(offset=offset) for place, offset in offsets.items()}
        told = self.client.commit_offsets({group: wanted}, timeout_ms=self._source.timeout_ms)
        if group in told.failed:
            failure = told.failed[group]
            raise ToolFailure(error_message(failure), status_of([failure]))
        failed = {place: why for place, why in told.found[group].items() if why is not None}
        if failed:
            names = {place: name_of(place) for place in in_order(failed)}
            raise ToolFailure(
                f"Failed altering group offsets for the following partitions: [{', '.join(names.values())}]",
                status_of(failed.values()),
                reason="\n".join(f"{name}: {exception_text(failed[place])}" for place, name in names.items()),
            )


def _state_of(described: Described) -> str:
    """Its state; a group that does not exist is as good as a dead one, and a commit makes it.

    :raises ToolFailure: it could not be described
    """
    if not isinstance(described, Failure):
        return described.state
    if described.code != GROUP_ID_NOT_FOUND:
        raise_failure([described], prefix=WRAPPED)
    return GroupState.DEAD.value


def _unknown(place: Place, failure: Failure) -> Failure:
    """Why a topic is not known, as the tool says it of a partition that a file names."""
    topic, name = place[0], name_of(place)
    if failure.code == _INVALID_TOPIC:
        message = f"Failed to fetch metadata for partition {name} due to invalid topic `{topic}`"
    elif failure.code == _UNKNOWN_TOPIC:
        message = (
            f"Failed to fetch metadata for partition {name} "
            f"because metadata for topic `{topic}` could not be found"
        )
    else:
        return failure
    return replace(failure, message=message)
