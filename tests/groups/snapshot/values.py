"""Hypothesis strategies for snapshots: everything the model can hold, with the nastiest texts."""

from __future__ import annotations

from uuid import UUID

from hypothesis import strategies as st

from groups.model import (
    Client,
    Cluster,
    CommittedOffset,
    Group,
    GroupState,
    GroupType,
    Member,
    MemberProtocol,
    Node,
    Subscription,
    Topic,
    UserData,
)
from groups.snapshot import Snapshot

INT32 = 2**31 - 1
INT64 = 2**63 - 1

LOOKS_LIKE_SOMETHING_ELSE = (
    "", " ", "~", "null", "Null", "NULL", "none", "true", "True", "on", "off", "yes", "No", "y", "n", "0123", "0x1F",
    "0o17", "0b1", "1_000", "1e3", ".5", "-1", "+1", ".inf", "-.INF", ".nan", "12:30:45", "2001-01-01", "=", "<<",
    "---", "...", "--- a", "# no comment", "a # b", "a: b", ": ", "- a", "-", "?", "? a", "[]", "[a", "{}", "{a: b}",
    "a, b", "&anchor", "*alias", "!tag", "!!str a", "| a", "> a", "%YAML 1.2", "@", "`", "'", '"', "it's", '"quoted"',
    "\\", "\\n", "back\\slash\\", " leading", "trailing ", "two  blanks", "tab\there", "line\nbreak", "\n", "cr\rlf\n",
    "nul\x00", "\x1b[31mred\x1b[0m", "\x7f", "\x85", "\xa0", "\u2028", "\u2029", "\ufeffbom", "\ufffe", "\uffff", "é",
    "e\u0301", "ß", "日本語のトピック", "🙂", "👩\u200d👩\u200d👧", "\U0010ffff", "עברית", "\u202eright to left",
    "kohort",
)  # fmt: skip
"""Texts that a YAML reader may take for something else, or that steer a terminal."""

LONG = ("a" * 1100, "🙂" * 1100, '"' * 700, "x" * 32_000)
"""A group id may have 32,767 bytes; YAML treats keys of more than 1,024 characters in a way of their own."""

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    LOOKS_LIKE_SOMETHING_ELSE
)
maybe_texts = st.none() | texts
partition_numbers = st.integers(0, 40) | st.integers(0, INT32)
epochs = st.none() | st.integers(0, INT32)

assignments = st.dictionaries(
    texts,
    st.lists(partition_numbers, unique=True, max_size=12).map(lambda numbers: tuple(sorted(numbers))),
    max_size=3,
)
clusters = st.builds(
    Cluster,
    id=maybe_texts,
    kafka=maybe_texts,
    features=st.dictionaries(texts, st.integers(0, 32767), max_size=3),
    consumer_protocol=st.none() | st.booleans(),
    settings=st.none() | st.dictionaries(texts, texts, max_size=3),
    settings_differ=st.dictionaries(texts, st.lists(texts, max_size=3).map(tuple), max_size=3),
)
nodes = st.builds(Node, id=st.integers(-1, INT32), host=texts, port=st.integers(-1, 65535), rack=maybe_texts)
clients = st.builds(Client, id=maybe_texts, host=maybe_texts, library=maybe_texts, version=maybe_texts)
subscriptions = st.builds(Subscription, topics=st.lists(texts, max_size=3).map(tuple), regex=maybe_texts)
user_data = st.builds(UserData, subscription=st.binary(max_size=9), assignment=st.binary(max_size=9))
members = st.builds(
    Member,
    id=texts,
    instance=maybe_texts,
    client=clients,
    rack=maybe_texts,
    protocol=st.none() | st.sampled_from(MemberProtocol),
    protocols=st.none() | st.lists(texts, max_size=3).map(tuple),
    subscription=st.none() | subscriptions,
    owned=st.none() | assignments,
    target=st.none() | assignments,
    epoch=st.none() | st.integers(-2, INT32),
    generation=st.none() | st.integers(-1, INT32),
    user_data=st.none() | user_data,
)
committed_offsets = st.builds(
    CommittedOffset,
    offset=st.none() | st.integers(-1, INT64),
    leader_epoch=st.none() | st.integers(-1, INT32),
    metadata=maybe_texts,
    timestamp=st.none() | st.integers(-1, INT64),
)
offsets = st.dictionaries(
    texts, st.dictionaries(partition_numbers, committed_offsets, max_size=3), max_size=2
)


def topic_named(name: str) -> st.SearchStrategy[Topic]:
    """A topic of that name."""
    racks = st.lists(texts, max_size=3).map(tuple)
    return st.builds(
        Topic,
        name=st.just(name),
        partitions=st.integers(0, INT32),
        id=st.none() | st.uuids() | st.just(UUID(int=1)),
        racks=st.none() | st.dictionaries(partition_numbers, racks, max_size=10),
        end_offsets=st.none()
        | st.dictionaries(partition_numbers, st.none() | st.integers(0, INT64), max_size=10),
    )


def group_named(name: str) -> st.SearchStrategy[Group]:
    """A group of that id."""
    return st.builds(
        Group,
        id=st.just(name),
        type=st.sampled_from(GroupType),
        state=st.sampled_from(GroupState),
        protocol_type=maybe_texts,
        protocol=maybe_texts,
        coordinator=st.none() | nodes,
        generation=st.none() | st.integers(-1, INT32),
        leader=maybe_texts,
        group_epoch=epochs,
        assignment_epoch=epochs,
        members=st.lists(members, max_size=3, unique_by=lambda member: member.id).map(tuple),
        offsets=st.none() | offsets,
    )


snapshots = st.builds(
    Snapshot,
    cluster=clusters,
    topics=st.lists(texts, max_size=3, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: topic_named(name) for name in names})
    ),
    groups=st.lists(texts, max_size=3, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: group_named(name) for name in names})
    ),
)
