"""Faults of `kohort serve`: Kohort's own request, which no Kafka broker supports."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

from wire.client.cluster import KafkaClient
from wire.client.errors import KafkaError, UnsupportedApi, refused
from wire.client.security import ConnectionSettings
from wire.client.steps import Deadline, run
from wire.errors import ErrorCode
from wire.messages.schemas import faults as schemas
from wire.messages.schemas.faults import FAULT_CLIENT, KOHORT_FAULT


def fault_client(settings: ConnectionSettings) -> KafkaClient:
    """A client that is not affected by faults itself. Raises InvalidAddress."""
    return KafkaClient(replace(settings, client_id=FAULT_CLIENT))


def ask_for_fault(
    client: KafkaClient, timeout_ms: int, **request: Unpack[schemas.KohortFaultRequestFields]
) -> schemas.KohortFaultResponse:
    """The response to a KohortFault. Raises UnsupportedApi: not `kohort serve`. Raises KafkaError: refused."""
    deadline = Deadline(timeout_ms)
    connection = client.home(deadline)
    run(connection.open(deadline))
    if not connection.supports(KOHORT_FAULT):
        raise UnsupportedApi(
            f"{connection.address}: only kohort serve accepts faults, and this is another broker",
            address=connection.address,
        )
    # A fault is not safe to send twice.
    (response,) = run(connection.ask_once(KOHORT_FAULT, [request], deadline))
    if response.error_code:
        if response.error_code == ErrorCode.INVALID_REQUEST:
            # The message is the whole reason: the code says nothing more.
            raise KafkaError(
                connection.address,
                response.error_code,
                ErrorCode.INVALID_REQUEST.name,
                response.error_message or "",
            )
        raise refused(connection.address, KOHORT_FAULT.name, response.error_code, response.error_message)
    return response
