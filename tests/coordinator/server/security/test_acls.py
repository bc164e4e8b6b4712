"""Forbidden requests: the same users send the same requests to a real broker, and get the same errors."""

import asyncio
from itertools import chain
from typing import Any

import pytest

from coordinator.server.served import SERVED
from tests.coordinator.server.security import acl_calls
from tests.coordinator.server.security.acl_world import ALLOWED, World, assigned, consumer_of, world
from tests.coordinator.server.security.test_login import served
from tests.kafka.secure import SecureBroker
from wire.messages.schemas.cluster import API_VERSIONS
from wire.messages.schemas.security import SASL_AUTHENTICATE, SASL_HANDSHAKE

pytestmark = pytest.mark.kafka

Answers = dict[tuple[str, str], Any]
USERS = ("kohort", *ALLOWED)


APIS = {served.api.name: served.api for served in SERVED.values()}


def answers(port: int, authority: str) -> tuple[Answers, set[int]]:
    with world(port, authority) as made:
        outcomes: Answers = {}
        asked = set()
        for user in USERS:
            calls = (
                acl_calls.group_calls(made),
                acl_calls.record_calls(made),
                acl_calls.transaction_calls(made),
            )
            for name, api, version, fields in chain(*calls, acl_calls.admin_calls(made, user)):
                answer = made.ask(user, APIS[api], version, fields)
                outcomes[user, name.replace(made.name(""), "")] = made.shown(answer)
                asked.add(APIS[api].key)
        outcomes["reader", "regex"] = matched(made, "reader")
        return outcomes, asked


def matched(made: World, user: str) -> list[str]:
    """The topics that are assigned to a member whose regex matches all topics."""
    regex = {"subscribed_topic_names": None, "subscribed_topic_regex": made.name(".*")}
    beat = {**consumer_of("r", made), **regex}
    names = {id_: name for name, id_ in made.ids.items()}
    return sorted(names[topic_id] for topic_id in assigned(made, user, beat))


def test_what_is_forbidden_is_refused_as_by_a_broker(secure: SecureBroker) -> None:
    authority = str(secure.files / "ca.pem")

    async def ours() -> tuple[Answers, set[int]]:
        settings = {
            "authorizer_class_name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super_users": "User:kohort",
            "auto_create_topics_enable": "false",
        }
        async with served(secure.files, **settings) as broker:
            return await asyncio.to_thread(answers, broker.port, authority)

    (mine, asked), (theirs, _) = asyncio.run(ours()), answers(secure.ports["SASL_SSL"], authority)
    wrong = {key: (mine[key], theirs[key]) for key in theirs if mine[key] != theirs[key]}
    assert not wrong, "\n".join(f"{key}:\n  {one}\n  {other}" for key, (one, other) in wrong.items())
    assert SERVED.keys() - asked == OPEN


OPEN = {API_VERSIONS.key, SASL_HANDSHAKE.key, SASL_AUTHENTICATE.key}
"""APIs that every user may use. `acl_calls` has a request of every other API."""
