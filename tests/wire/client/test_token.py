"""Tokens: whatever an endpoint answers is a token or a refusal, and no secret is in a message."""

import base64
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.client.errors import WireError
from wire.client.security import OAuthSettings, Secret, TokenEndpoint, TokenFile
from wire.client.steps import Deadline
from wire.client.tokens.endpoint import _parse_token
from wire.client.tokens.source import TokenSource
from wire.client.tokens.token import Token, token_of

ENDPOINT = TokenEndpoint(url="https://login/token", client_id="kohort", client_secret=Secret("a-secret"))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["access_token", "id_token", "expires_in", "error", "error_description", "exp"]),
            inner,
        )
    ),
    max_leaves=6,
)


def outcome(make: Callable[[], Token]) -> Token | str:
    try:
        return make()
    except WireError as error:
        return str(error)


@given(st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_answer_is_a_token_or_a_refusal(body: bytes) -> None:
    made = outcome(lambda: _parse_token(ENDPOINT, body))
    if isinstance(made, Token):
        assert made.expires_s > time.time() - 60
        assert made.value.reveal().isascii()
    else:
        assert "a-secret" not in made


SECRETS = (
    "a-secret",
    base64.b64encode(b"kohort:a-secret").decode(),
    "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2ln1",
)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "answer",
    [
        "<html><title>Sign in</title>{}",
        "{}",
        '{{"token": "{}"}}',
        '["{}"]',
        '"{}"',
        '{{"{}": 1}}',
        '{{"error": "invalid_client", "error_description": "who is {}?"}}',
    ],
)
def test_an_unexpected_answer_is_quoted_without_secrets(answer: str, secret: str) -> None:
    made = outcome(lambda: _parse_token(ENDPOINT, answer.format(secret).encode()))
    assert isinstance(made, str)
    assert secret not in made
    assert "Sign in" in made or "Sign in" not in answer


def test_a_long_answer_is_not_read_for_long() -> None:
    began = time.process_time()
    made = outcome(
        lambda: _parse_token(
            ENDPOINT, json.dumps({"error": "e", "error_description": "aB" * 500_000}).encode()
        )
    )
    assert time.process_time() - began < 5
    assert isinstance(made, str)
    assert len(made) < 1000


def segment(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


@given(st.binary(max_size=20) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_claims_make_no_more_than_an_unknown_end(claims: bytes) -> None:
    made = outcome(lambda: token_of(f"h.{segment(claims)}.s", "somewhere"))
    assert isinstance(made.subject, str) if isinstance(made, Token) else "expired already" in made


@pytest.mark.parametrize(("life_s", "asked"), [(600, 1), (20, 2)])
def test_a_token_at_its_end_is_not_used_again(tmp_path: Path, life_s: float, asked: int) -> None:
    file = tmp_path / "token"

    def write(subject: str) -> None:
        claims = json.dumps({"sub": subject, "exp": time.time() + life_s}).encode()
        file.write_text(f"h.{segment(claims)}.s")

    source = TokenSource(OAuthSettings(source=TokenFile(url=file.as_uri())))
    write("first")
    source.token(Deadline(1000))
    write("second")
    assert source.token(Deadline(1000)).subject == ("first", "second")[asked - 1]


def test_a_token_that_was_refused_is_asked_for_again(tmp_path: Path) -> None:
    file = tmp_path / "token"
    source = TokenSource(OAuthSettings(source=TokenFile(url=file.as_uri())))
    file.write_text("one")
    source.forget(source.token(Deadline(1000)))
    file.write_text("two")
    assert source.token(Deadline(1000)).value == Secret("two")
