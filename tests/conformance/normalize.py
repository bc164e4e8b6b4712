"""An answer without what differs from run to run: generated ids, ports, and orders that hang on them."""

import json
import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

UUID_TEXT = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
BASE64_ID = re.compile(r"[A-Za-z0-9_-]{22}")
ID_FIELDS = frozenset({"member_id", "leader"})

# Orders that come from a Java hash of ids that are random, or of everything that is there.
UNORDERED = frozenset({"members", "topic_partitions", "subscribed_topic_names", "configs"})
UNORDERED_OF = {
    "ListGroups": {"groups"},
    "DeleteGroups": {"results"},
    # Groups may be on different partitions; of topics and partitions the broker puts its own refusals first.
    "ConsumerGroupDescribe": {"groups"},
    "DescribeGroups": {"groups"},
    "OffsetDelete": {"topics", "partitions"},
    "OffsetFetch": {"topics", "groups"},
    "ApiVersions": {"api_keys"},
    "Metadata": {"topics"},
    # The controller keeps refusals and the rest apart.
    "CreateTopics": {"topics"},
    "CreatePartitions": {"results"},
    "DeleteTopics": {"responses"},
}
# The broker's map of the partitions of a group's offsets only grows: its order hangs on what was there before.
EXACTLY_UNORDERED = {"OffsetFetch": {"partitions"}}

# What of a broker's abilities this coordinator has; the rest of its answer is not looked at.
SERVED_KEYS = frozenset({8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 42, 47, 68, 69})
FEATURES = frozenset({"group.version"})

# Of no importance to a group: who the cluster is and how its topics are kept.
IGNORED = frozenset({"throttle_time", "cluster_id", "finalized_features_epoch", "zk_migration_ready"})
SHORT_TEXT = 16


class Normalizer:
    """Knows what a script saved, and puts the names of it in its place."""

    def __init__(self, port: int, group: str, *, exact: bool = False) -> None:
        """`port` is the server's own, which answers carry; groups whose id begins with `group` are one's own. `exact`:
        ids are shown as they are, and members in the order in which they come."""
        self._port = port
        self._exact = exact
        self._group = group
        self._names: dict[Any, str] = {}

    def learn(self, value: Any, name: str) -> None:
        """Show `value`, an id, as `$name` from now on; the first name of a value stays."""
        if isinstance(value, str | UUID) and value:
            self._names.setdefault(value, f"${name}")

    def answer(self, api: str, fields: Any) -> Any:
        """The normal form of an answer to `api`."""
        unordered = UNORDERED | UNORDERED_OF.get(api, set())
        if self._exact:
            unordered = (unordered - {"members"}) | EXACTLY_UNORDERED.get(api, set())
        return self._value(self._served(api, fields), "", unordered)

    def expected(self, value: Any) -> Any:
        return self._value(value, "", frozenset())

    def _served(self, api: str, fields: Any) -> Any:
        if api == "ListGroups":
            mine = [one for one in fields["groups"] if one["group_id"].startswith(self._group)]
            return {**fields, "groups": mine}
        if api != "ApiVersions":
            return fields
        shown = dict(fields)
        shown["api_keys"] = [one for one in fields["api_keys"] if one["api_key"] in SERVED_KEYS]
        for name in ("supported_features", "finalized_features"):
            if name in shown:
                shown[name] = [one for one in shown[name] if one["name"] in FEATURES]
        return shown

    def _value(self, value: Any, key: str, unordered: frozenset[str] | set[str]) -> Any:
        if isinstance(value, Mapping):
            return {
                name: self._value(one, name, unordered) for name, one in value.items() if name not in IGNORED
            }
        if isinstance(value, list):
            shown = [self._value(one, key, unordered) for one in value]
            if key == "partitions" and all(isinstance(one, int) for one in shown):
                return sorted(shown)  # a Java set of numbers
            return sorted(shown, key=_canonical) if key in unordered else shown
        if key == "port" and value == self._port:
            return "$port"
        if isinstance(value, bytes):
            return (
                value.decode() if value.isascii() and value.decode().isprintable() else f"hex:{value.hex()}"
            )
        if isinstance(value, UUID):
            return self._names.get(value, str(value))
        return self._text(value, key) if isinstance(value, str) else value

    def _text(self, text: str, key: str) -> str:
        if self._exact:
            return text
        if text in self._names:
            return self._names[text]
        for known, name in self._names.items():
            if isinstance(known, str) and len(known) >= SHORT_TEXT:
                text = text.replace(known, name)
        text = UUID_TEXT.sub("<uuid>", text)
        return "<id>" if key in ID_FIELDS and BASE64_ID.fullmatch(text) else text


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
