"""Every version of every API that is listed is answered, in bytes that kio reads."""

import asyncio
from typing import Any

import pytest
from kio.serial import entity_reader

from coordinator.server.served import SERVED
from tests.conformance.messages import build, encoded
from tests.conformance.messages import request_type as kio_request
from tests.conformance.messages import response_type as kio_response
from tests.coordinator.server.running import HOST, running
from wire.messages.definition import Api

DEADLINE_S = 60
VERSIONS = [
    pytest.param(served.api, version, id=f"{served.api.name} {version}")
    for served in SERVED.values()
    for version in range(served.api.versions[0], served.newest + 1)
]
FIELDS: dict[str, dict[str, Any]] = {
    "ApiVersions": {"client_software_name": "tests", "client_software_version": "1"},
    "Produce": {"acks": 1},
}


@pytest.mark.parametrize(("api", "version"), VERSIONS)
def test_a_request_of_zeros_is_answered(api: Api, version: int) -> None:
    asyncio.run(_ask(api, version))


async def _ask(api: Api, version: int) -> None:
    request_type, response_type = kio_request(api.name, version), kio_response(api.name, version)
    known = set(request_type.__dataclass_fields__)
    given = {name: value for name, value in FIELDS.get(api.name, {}).items() if name in known}
    async with running() as broker:
        reader, writer = await asyncio.open_connection(HOST, broker.port)
        content = encoded(build(request_type, given), 7, None, "tests")
        writer.write(len(content).to_bytes(4, "big") + content)
        length = int.from_bytes(await asyncio.wait_for(reader.readexactly(4), DEADLINE_S), "big")
        answer = await reader.readexactly(length)
        writer.close()
    header, head = entity_reader(response_type.__header_schema__)(answer, 0)
    _, size = entity_reader(response_type)(answer, head)
    assert header.correlation_id == 7
    assert head + size == len(answer)
