"""Members of the consumer protocol in a play."""

from collections.abc import Sequence
from typing import Any

from assignors.assignor import Assignor
from coordinator.consumer.consumer_member import AsyncConsumer
from coordinator.consumer.member import ClientSubscription, Identity
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from tests.coordinator.consumer.driver import Application, Play


def start(
    play: Play,
    name: str,
    *,
    topics: tuple[str, ...] = ("foo",),
    regex: str | None = None,
    remote_assignor: str | None = None,
    local_assignors: Sequence[Assignor] = (),
    **options: Any,
) -> Application:
    def make(identity: Identity, application: Application) -> AsyncConsumer:
        return AsyncConsumer(
            identity,
            ClientSubscription(topics=() if regex is not None else topics, regex=regex),
            play.topics,
            application.known_positions,
            uuid=name,
            remote_assignor=remote_assignor,
            local_assignors=[assignor.name for assignor in local_assignors],
            custom=local_assignors,
        )

    return play.start(name, make, **options)


def member_of(application: Application) -> AsyncConsumer:
    assert isinstance(application.member, AsyncConsumer)
    return application.member


def heartbeats(application: Application) -> list[ConsumerGroupHeartbeat]:
    """Those it has sent since this was last asked."""
    sent = application.requests(ConsumerGroupHeartbeat)
    application.sent.clear()
    return sent
