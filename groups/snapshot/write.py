"""Writing a snapshot file: block YAML down to what a person reads line by line, flow style inside."""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groups.model import Cluster, CommittedOffset, Group, GroupType, Member, Topic, usual_protocol
from groups.snapshot.emit import yaml_lines
from groups.snapshot.model import FORMAT_VERSION, Snapshot
from wire.uuids import format_uuid


def write_snapshot(snapshot: Snapshot, file: Path) -> None:
    """Write YAML, or JSON when the name ends so; the old file stays until the new one is whole."""
    replace_file(file, snapshot_text(snapshot, as_json=file.suffix.lower() == ".json"))


def replace_file(file: Path, text: str) -> None:
    """Write a file so that it is, at every moment, the old one or the whole new one. OSError when that fails."""
    handle, temporary = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, file)
    except BaseException:
        os.unlink(temporary)
        raise


def snapshot_text(snapshot: Snapshot, *, as_json: bool = False) -> str:
    """The file's text."""
    tree = snapshot_tree(snapshot)
    if as_json:
        return json.dumps(tree, ensure_ascii=False, indent=1) + "\n"
    return "".join(yaml_lines(tree))


def snapshot_tree(snapshot: Snapshot) -> dict[str, Any]:
    """The document as plain values; absent means unknown."""
    return {
        "kohort": FORMAT_VERSION,
        "cluster": _cluster(snapshot.cluster),
        "topics": {name: _topic(topic) for name, topic in sorted(snapshot.topics.items())},
        "groups": {name: _group(group) for name, group in sorted(snapshot.groups.items())},
    }


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _cluster(cluster: Cluster) -> dict[str, Any]:
    features = dict(sorted(cluster.features.items())) or None
    settings = None if cluster.settings is None else dict(sorted(cluster.settings.items()))
    differ = {name: list(values) for name, values in sorted(cluster.settings_differ.items())} or None
    return _known(
        {
            "id": cluster.id,
            "kafka": cluster.kafka,
            "features": features,
            "consumer_protocol": cluster.consumer_protocol,
            "settings": settings,
            "settings_differ": differ,
        }
    )


def _topic(topic: Topic) -> dict[str, Any]:
    return _known(
        {
            "id": format_uuid(topic.id) if topic.id else None,
            "partitions": topic.partitions,
            "racks": None if topic.racks is None else {p: list(r) for p, r in sorted(topic.racks.items())},
            "end_offsets": None if topic.end_offsets is None else dict(sorted(topic.end_offsets.items())),
        }
    )


def _group(group: Group) -> dict[str, Any]:
    node = group.coordinator
    return _known(
        {
            "type": group.type.value,
            "state": group.state.value,
            "protocol_type": group.protocol_type,
            "protocol": group.protocol,
            "coordinator": node
            and _known({"id": node.id, "host": node.host, "port": node.port, "rack": node.rack}),
            "generation": group.generation,
            "leader": group.leader,
            "group_epoch": group.group_epoch,
            "assignment_epoch": group.assignment_epoch,
            "members": [_member(member, group.type) for member in group.members],
            "offsets": None if group.offsets is None else _offsets(group),
        }
    )


def _member(member: Member, group_type: GroupType) -> dict[str, Any]:
    client, wanted, data = member.client, member.subscription, member.user_data
    usual = usual_protocol(group_type)
    protocol = None if member.protocol is usual else member.protocol
    known = _known(
        {
            "id": member.id,
            "instance": member.instance,
            "client": _known(
                {"id": client.id, "host": client.host, "library": client.library, "version": client.version}
            )
            or None,
            "rack": member.rack,
            "protocol": protocol and protocol.value,
            "protocols": None if member.protocols is None else list(member.protocols),
            "subscription": None
            if wanted is None
            else _known({"topics": list(wanted.topics), "regex": wanted.regex}),
            "owned": _partitions(member.owned),
            "generation": member.generation,
            "target": _partitions(member.target),
            "epoch": member.epoch,
            "user_data": None
            if data is None
            else {"subscription": _base64(data.subscription), "assignment": _base64(data.assignment)},
            "unreadable": member.unreadable,
        }
    )
    if member.protocol is None and usual is not None:
        known["protocol"] = None  # left out, it would be the usual one
    return known


def _partitions(partitions: Mapping[str, tuple[int, ...]] | None) -> dict[str, list[int]] | None:
    return None if partitions is None else {topic: list(partitions[topic]) for topic in sorted(partitions)}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _offsets(group: Group) -> dict[str, dict[int, dict[str, Any]]]:
    return {
        topic: {partition: _offset(partitions[partition]) for partition in sorted(partitions)}
        for topic, partitions in sorted((group.offsets or {}).items())
    }


def _offset(offset: CommittedOffset) -> dict[str, Any]:
    known = {
        "leader_epoch": offset.leader_epoch,
        "metadata": offset.metadata,
        "timestamp": offset.timestamp,
        "lag": offset.lag,
    }
    return {"offset": offset.offset, **_known(known)}
