"""A member made from its script: the one place where the simulation constructs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from coordinator.consumer.classic_member import ClassicMember
from coordinator.consumer.consumer_member import ConsumerMember
from coordinator.consumer.library import AfterError, library_named
from coordinator.consumer.member import Identity, Member, Position, Subscription
from coordinator.consumer.outputs import Partitions
from coordinator.consumer.settings import MemberSettings
from coordinator.engine.topics import TopicImage
from coordinator.simulation.client_side import NamedAssignor
from coordinator.simulation.scenario import MemberScript
from groups.regex.broker import compile_broker_regex

GROUP = "group"
"""The group that all members are in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """What a member is made from."""

    client_id: str
    script: MemberScript
    image: TopicImage
    position: Position
    member_uuid: str
    """Its id under the consumer protocol, which the client makes."""
    history: Partitions = frozenset()
    """Of the classic protocol: what it was assigned last, by another process."""


MakeMember: TypeAlias = Callable[[Birth], Member]


def make_member(birth: Birth) -> Member:
    """:raises InvalidSetting: its library or a setting of it is unknown"""
    script, identity = birth.script, identity_of(birth)
    if script.protocol == "consumer":
        return ConsumerMember(
            identity,
            subscription_of(script),
            birth.image,
            birth.position,
            uuid=birth.member_uuid,
            remote_assignor=script.remote_assignor,
            local_assignors=[NamedAssignor(each, identity.library.leader) for each in script.local_assignors],
        )
    return ClassicMember(
        identity,
        subscription_of(script),
        birth.image,
        birth.position,
        assignors=script.assignors,
        subscription_version=script.subscription_version,
        history=birth.history,
    )


def identity_of(birth: Birth) -> Identity:
    """:raises InvalidSetting: its library or a setting of it is unknown"""
    script = birth.script
    return Identity(
        group=GROUP,
        client_id=birth.client_id,
        instance=script.instance,
        rack=script.rack,
        library=library_named(script.library),
        settings=MemberSettings.parse(script.config),
    )


def subscription_of(script: MemberScript) -> Subscription:
    return Subscription(topics=script.topics, regex=script.regex, matches=_matcher(script.regex))


def after_error(script: MemberScript) -> AfterError:
    """What the application does with an exception."""
    if script.after_error is not None:
        return AfterError(script.after_error)
    return library_named(script.library).after_error


def _matcher(regex: str | None) -> Callable[[str], bool] | None:
    """For clients that match themselves. RE2 stands for Java's Pattern: where it accepts one, both match the same."""
    if regex is None:
        return None
    compiled = compile_broker_regex(regex)
    return lambda name: bool(compiled.matches((name,)))
