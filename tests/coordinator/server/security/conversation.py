"""A broker's answers to a sequence of frames, in a form in which two brokers can be compared."""

import socket
import ssl
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from wire.messages.definition import Api
from wire.messages.framing import frame
from wire.messages.schemas.security import SASL_AUTHENTICATE, SASL_HANDSHAKE

PATIENCE_S = 20.0
CLOSED = "closed"
Said: TypeAlias = tuple[Any, ...] | str  # the error code and other compared values, or CLOSED


class Conversation:
    """A connection over TLS on which frames are sent as they are."""

    def __init__(self, port: int, authority: str) -> None:
        context = ssl.create_default_context(cafile=authority)
        raw = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._socket = context.wrap_socket(raw, server_hostname="127.0.0.1")
        self._requests = 0

    def close(self) -> None:
        self._socket.close()

    def ask(self, api: Api, version: int, fields: Mapping[str, Any]) -> Any:
        """Send a request. Returns its answer, or CLOSED."""
        self._requests += 1
        answer = self.send(api.encode_request(version, self._requests, "conversation", fields))
        if isinstance(answer, str):
            return answer
        assert int.from_bytes(answer[:4], "big") == self._requests
        return api.decode_response(version, answer[4:])

    def send(self, content: bytes) -> bytes | str:
        """Send a frame as it is. Returns the answer's frame, or CLOSED."""
        try:
            self._socket.sendall(frame(content))
            length = self._exactly(4)
            return CLOSED if length is None else self._exactly(int.from_bytes(length, "big")) or b""
        except OSError:
            return CLOSED

    def handshake(self, mechanism: str, version: int = 1) -> Said:
        """Send SaslHandshake. Returns the error, and the mechanisms that both brokers of the tests may know."""
        answer = self.ask(SASL_HANDSHAKE, version, {"mechanism": mechanism})
        if isinstance(answer, str):
            return answer
        return answer.error_code, sorted(set(answer.mechanisms) - {"OAUTHBEARER"})

    def token(self, token: bytes, version: int = 2) -> Said:
        """Send SaslAuthenticate. Returns error, message and lifetime."""
        answer = self.ask(SASL_AUTHENTICATE, version, {"auth_bytes": token})
        return answer if isinstance(answer, str) else (answer.error_code, answer.error_message)

    def _exactly(self, size: int) -> bytes | None:
        content = b""
        while len(content) < size:
            more = self._socket.recv(size - len(content))
            if not more:
                return None
            content += more
        return content


def plain(user: str, password: str, authorization_id: str = "") -> bytes:
    return f"{authorization_id}\0{user}\0{password}".encode()


Steps: TypeAlias = Sequence[tuple[Any, ...]]
"""(`handshake`, mechanism, version), (`token`, bytes, version), (`raw`, bytes) or (api, version, fields)."""


def outcomes(port: int, authority: str, steps: Steps) -> list[Said]:
    """The answers to the steps; CLOSED is the last one."""
    conversation = Conversation(port, authority)
    said: list[Said] = []
    try:
        for step in steps:
            said.append(_step(conversation, *step))
            if said[-1] == CLOSED:
                break
    finally:
        conversation.close()
    return said


def _step(conversation: Conversation, what: Any, *rest: Any) -> Said:
    if what == "raw":
        answer = conversation.send(*rest)
        return answer if answer == CLOSED else ("raw", answer)
    if isinstance(what, str):
        said: Said = getattr(conversation, what)(*rest)
        return said
    answer = conversation.ask(what, *rest)
    return answer if isinstance(answer, str) else ("answered",)
