"""Every version of every API that is listed is answered, in bytes that kio reads."""

import asyncio
from typing import Any

import pytest
from kio.serial import entity_reader

from coordinator.server.served import SERVED, ServedApi
from tests.conformance.messages import build, encoded
from tests.coordinator.server.running import HOST, running

DEADLINE_S = 60
VERSIONS = [
    pytest.param(api, version, id=f"{api.name} {version}")
    for api in SERVED.values()
    for version in range(max(api.minimum, api.oldest), api.maximum + 1)
]
FIELDS: dict[str, dict[str, Any]] = {
    "ApiVersions": {"client_software_name": "tests", "client_software_version": "1"},
    "Produce": {"acks": 1},
}


@pytest.mark.parametrize(("api", "version"), VERSIONS)
def test_a_request_of_zeros_is_answered(api: ServedApi, version: int) -> None:
    asyncio.run(_ask(api, version))


async def _ask(api: ServedApi, version: int) -> None:
    request_type, response_type = api.request_type(version), api.response_type(version)
    known = set(request_type.__dataclass_fields__)
    given = {name: value for name, value in FIELDS.get(api.name, {}).items() if name in known}
    async with running() as node:
        reader, writer = await asyncio.open_connection(HOST, node.port)
        content = encoded(build(request_type, given), 7, None, "tests")
        writer.write(len(content).to_bytes(4, "big") + content)
        length = int.from_bytes(await asyncio.wait_for(reader.readexactly(4), DEADLINE_S), "big")
        answer = await reader.readexactly(length)
        writer.close()
    header, head = entity_reader(response_type.__header_schema__)(answer, 0)
    _, size = entity_reader(response_type)(answer, head)
    assert header.correlation_id == 7
    assert head + size == len(answer)
