"""Tokens printed by a command: kohort.token.command."""

from __future__ import annotations

import json
from collections.abc import Mapping

from wire.client.commands import CommandFailed, CommandLate, printed_by
from wire.client.errors import AuthenticationFailed, Unreachable
from wire.client.security import TokenCommand
from wire.client.steps import Deadline
from wire.client.tokens.token import Token, token_in, token_of


def printed_token(command: TokenCommand, deadline: Deadline) -> Token:
    """Run the command, and read the token that it prints: alone, or in a JSON object with `access_token`.

    :raises AuthenticationFailed: it fails, or prints no token :raises Unreachable: it does not finish in time
    """
    where = f"the token command {command.arguments[0]}"
    try:
        text = printed_by(command.arguments, deadline.within(command.timeout_ms))
    except CommandLate as error:
        raise Unreachable(where, f"it {error} Allow more with kohort.token.timeout.ms.") from None
    except CommandFailed as error:
        raise AuthenticationFailed(f"{where} {error}") from None
    if not text.startswith("{"):
        return token_of(text, where)
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise AuthenticationFailed(f"{where} printed something that is neither a token nor JSON.") from None
    token = token_in(answer, where) if isinstance(answer, Mapping) else None
    if token is None:
        raise AuthenticationFailed(f"{where} printed JSON without an access_token.")
    return token
