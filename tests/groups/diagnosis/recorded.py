"""Observations of groups in a file: the input of a diagnosis, to be judged again without a cluster."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from groups.diagnosis.case import Observation
from groups.lag import NextRecord, topics_with_offsets
from groups.model import Group
from groups.snapshot import Snapshot, snapshot_from_tree, snapshot_tree

_OF_GROUP = ("commit_gap_ms", "rebalanced_ms")  # Fields that are not in a snapshot


def write(file: Path, groups: Mapping[str, Sequence[Observation]]) -> None:
    """A line for each group. Observations that show the same as the one before are left out."""
    lines = [
        json.dumps([name, *map(_tree, _changed(seen))], separators=(",", ":"))
        for name, seen in groups.items()
    ]
    file.write_text("\n".join(lines) + "\n")


def read(file: Path) -> dict[str, list[Observation]]:
    """Observations by group."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return {name: [_observation(tree) for tree in trees] for name, *trees in lines}


def _changed(observations: Sequence[Observation]) -> list[Observation]:
    kept: list[Observation] = []
    for observation in observations:
        if not kept or observation.topics is not None or _members(observation) != _members(kept[-1]):
            kept.append(observation)
    return kept


def _members(seen: Observation) -> object:
    return None if seen.group is None else (seen.group.state, seen.group.group_epoch, seen.group.members)


def _tree(seen: Observation) -> dict[str, Any]:
    group = None if seen.group is None else _brief(seen.group)
    names = set() if group is None else topics_with_offsets([group])
    topics = {name: topic for name, topic in (seen.topics or {}).items() if name in names}
    tree = snapshot_tree(Snapshot(groups={} if group is None else {group.id: group}, topics=topics))
    return {
        "at": seen.at_ms,
        "full": seen.topics is not None,
        "snapshot": tree,
        "more": {} if group is None else {name: getattr(group, name) for name in _OF_GROUP},
        "same": [
            [topic, number, commit.same_since_ms]
            for topic, offsets in ((group and group.offsets) or {}).items()
            for number, commit in offsets.items()
            if commit.same_since_ms is not None
        ],
        "next": [[*partition, *record] for partition, record in seen.next_records.items()],
        "waiting": [[*partition, since_ms] for partition, since_ms in seen.waiting_since_ms.items()],
    }


def _brief(group: Group) -> Group:
    """Without what no rule uses."""
    members = tuple(replace(member, rack=None, user_data=None) for member in group.members)
    return replace(group, coordinator=None, members=members)


def _observation(tree: Mapping[str, Any]) -> Observation:
    snapshot = snapshot_from_tree(tree["snapshot"])
    group = next(iter(snapshot.groups.values()), None)
    if group is not None:
        group = replace(_with_repeated(group, tree["same"]), **tree["more"])
    return Observation(
        at_ms=tree["at"],
        group=group,
        topics=snapshot.topics if tree["full"] else None,
        next_records={(topic, number): NextRecord(*record) for topic, number, *record in tree["next"]},
        waiting_since_ms={(topic, number): since_ms for topic, number, since_ms in tree["waiting"]},
    )


def _with_repeated(group: Group, repeated: Sequence[Sequence[Any]]) -> Group:
    offsets = {topic: dict(committed) for topic, committed in (group.offsets or {}).items()}
    for topic, number, since_ms in repeated:
        offsets[topic][number] = replace(offsets[topic][number], same_since_ms=since_ms)
    return group if group.offsets is None else replace(group, offsets=offsets)
