"""A group of the JSON document of `kohort describe`."""

from collections.abc import Iterator, Mapping, Sequence

from cli.render.document import fields
from cli.verbs.describe.classic_streams import ClassicStreamsGroup, application, thread_data
from cli.verbs.describe.members import member_data, topology_data
from cli.verbs.describe.offsets import PLAIN, OffsetsView, group_totals, offset_data
from groups.classic_streams import is_classic_streams
from groups.lag import PartitionLag
from groups.model import Group, GroupType, Topic


def group_data(
    group: Group,
    offsets: Sequence[PartitionLag] | None,
    view: OffsetsView = PLAIN,
    *,
    topics: Mapping[str, Topic] | None = None,
) -> dict[str, object]:
    """A group of the JSON document; offsets are null if they were not requested. `topics` may have changelogs."""
    epochs = ("generation",) if group.type is GroupType.CLASSIC else ("group_epoch", "assignment_epoch")
    data: dict[str, object] = {
        "group": group.id,
        "type": group.type.value,
        **fields(group, "protocol_type", "protocol"),
        "state": group.state.value,
        "coordinator": group.coordinator and fields(group.coordinator, "id", "host", "port"),
        **fields(group, *epochs),
    }
    if group.type is GroupType.STREAMS:
        data["topology"] = topology_data(group.topology)
    if not group.shares_partitions:
        data["leader"] = group.leader
    data["members"] = [member_data(group, member) for member in group.members]
    if is_classic_streams(group):
        data["members"] = list(_with_threads(group, application(group, topics or {})))
    data["offsets"] = None if offsets is None else [offset_data(row, view, group) for row in offsets]
    if offsets is not None and view.totals:
        data["totals"] = group_totals(group, offsets, lag_time=view.lag_time)
    return data


def _with_threads(group: Group, described: ClassicStreamsGroup) -> Iterator[dict[str, object]]:
    for thread in described.threads:
        lags = described.lags.get(thread.member.id, {})
        yield {**member_data(group, thread.member), "streams": thread_data(thread, lags)}
