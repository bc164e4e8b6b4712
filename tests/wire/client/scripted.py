"""A broker made of canned answers, for what a real one cannot be brought to say."""

import socket
from collections.abc import Callable, Mapping
from typing import Any

from tests.wire.client.peer import Script, answer, request
from wire.messages.apis import ALL_APIS, API_VERSIONS
from wire.messages.encode import encode

Answer = Callable[[int], Any]
"""Version to the kio response."""


def broker(answers: Mapping[str, Answer], versions: Mapping[str, tuple[int, int]], newest: int = 4) -> Script:
    """A script for `peer`: it knows `versions` of APIs by name and answers them with `answers`.

    Its newest ApiVersions is `newest`; asked for a newer one it says so in version 0, as brokers do.
    """
    by_key = {api.key: api for api in ALL_APIS}
    known = {api.key: versions[api.name] for api in ALL_APIS if api.name in versions}
    known[API_VERSIONS.key] = (0, newest)

    def serve(connection: socket.socket) -> None:
        while True:
            key, version, correlation_id, _ = request(connection)
            api = by_key[key]
            if key == API_VERSIONS.key:
                answer(connection, correlation_id, api_versions(known, version, newest))
                continue
            message = answers[api.name](version)
            flexible = b"\0" if message.__header_schema__.__flexible__ else b""
            answer(connection, correlation_id, flexible + encode(message))

    return serve


def api_versions(known: Mapping[int, tuple[int, int]], version: int, newest: int) -> bytes:
    """The answer to ApiVersions in `version`, of a broker that knows it up to `newest`."""
    written = version if version <= newest else 0
    schema = __import__(f"kio.schema.api_versions.v{written}.response", fromlist=["x"])
    entries = tuple(
        schema.ApiVersion(api_key=key, min_version=low, max_version=high)
        for key, (low, high) in known.items()
    )
    fields: dict[str, Any] = {"error_code": 35 if version > newest else 0, "api_keys": entries}
    if written >= 1:
        from datetime import timedelta

        fields["throttle_time"] = timedelta(0)
    return encode(schema.ApiVersionsResponse(**fields))
