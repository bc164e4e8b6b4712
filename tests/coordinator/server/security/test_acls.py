"""What ACLs forbid: the same users send the same requests to a real broker, and are answered the same errors."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.coordinator.server.security.acl_calls import (
    admin_calls,
    group_calls,
    record_calls,
    transaction_calls,
)
from tests.coordinator.server.security.acl_world import ALLOWED, World, assigned, consumer_of, world
from tests.coordinator.server.security.test_login import served
from tests.kafka.secure import SecureBroker

pytestmark = pytest.mark.kafka

Answers = dict[tuple[str, str], Any]
USERS = ("kohort", *ALLOWED)


def answers(port: int, authority: str) -> Answers:
    """What the users are answered."""
    with world(port, authority) as made:
        found: Answers = {
            (user, name.replace(made.name(""), "")): made.shown(made.ask(user, api, version, fields))
            for user in USERS
            for name, api, version, fields in (
                *group_calls(made),
                *record_calls(made),
                *transaction_calls(made),
                *admin_calls(made, user),
            )
        }
        found["reader", "regex"] = matched(made, "reader")
        return found


def matched(made: World, user: str) -> list[str]:
    """The topics that a member is assigned whose regex matches all of them."""
    beat = {
        **consumer_of("r", made),
        "subscribed_topic_names": None,
        "subscribed_topic_regex": made.name(".*"),
    }
    names = {id_: name for name, id_ in made.ids.items()}
    return sorted(names[each] for each in assigned(made, user, beat))


def test_what_is_forbidden_is_refused_as_by_a_broker(secure: SecureBroker) -> None:
    authority = str(secure.files / "ca.pem")

    async def ours() -> Answers:
        settings = {
            "authorizer_class_name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super_users": "User:kohort",
            "auto_create_topics_enable": "false",
        }
        async with served(secure.files, **settings) as broker:
            return await asyncio.to_thread(answers, broker.port, authority)

    mine, theirs = asyncio.run(ours()), answers(secure.ports["SASL_SSL"], authority)
    wrong = {key: (mine[key], theirs[key]) for key in theirs if mine[key] != theirs[key]}
    assert not wrong, "\n".join(f"{key}:\n  {one}\n  {other}" for key, (one, other) in wrong.items())
