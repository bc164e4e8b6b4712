"""How long a login is valid (KIP-368)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.server.security.sasl import SaslLogin, Users
from tests.coordinator.server.security.conversation import plain
from tests.support.long import cases
from wire.client.security import Secret
from wire.errors import ErrorCode
from wire.messages.definition import Api
from wire.messages.reader import DecodeError
from wire.messages.schemas.cluster import METADATA
from wire.messages.schemas.security import SASL_AUTHENTICATE, SASL_HANDSHAKE

LIFETIME_MS = 5_000
REQUEST = METADATA.encode_request(1, 9, "c", {"topics": ()})


def frame(api: Api, version: int, **fields: object) -> bytes:
    return api.encode_request(version, 7, "c", fields)


@pytest.fixture
def login() -> SaslLogin:
    """One that is complete."""
    users = Users({name: Secret(name) for name in ("alice", "bob")})
    login = SaslLogin(users, ("PLAIN", "SCRAM-SHA-256"), LIFETIME_MS)
    handshake(login, 0)
    assert token(login, 0) == (0, LIFETIME_MS)
    return login


def handshake(login: SaslLogin, now_ms: int, mechanism: str = "PLAIN") -> str | None:
    reply = login.receive(frame(SASL_HANDSHAKE, 1, mechanism=mechanism), now_ms)
    assert reply is not None
    return reply.failed


def token(login: SaslLogin, now_ms: int, user: str = "alice") -> tuple[int, int]:
    reply = login.receive(frame(SASL_AUTHENTICATE, 2, auth_bytes=plain(user, user)), now_ms)
    assert reply is not None
    assert reply.answer is not None
    answer = SASL_AUTHENTICATE.decode_response(2, reply.answer[4:])
    return answer.error_code, answer.session_lifetime_ms


def test_a_session_ends_unless_the_client_logs_in_again(login: SaslLogin) -> None:
    assert login.receive(REQUEST, LIFETIME_MS) is None
    assert handshake(login, 4_000) is None
    assert token(login, 4_100) == (0, LIFETIME_MS)
    assert login.receive(REQUEST, 4_100 + LIFETIME_MS) is None
    expired = login.receive(REQUEST, 4_101 + LIFETIME_MS)
    assert expired is not None
    assert (expired.answer, expired.failed is None) == (None, False)


def test_who_logs_in_again_is_the_same_user(login: SaslLogin) -> None:
    handshake(login, 2_000)
    assert token(login, 2_000, "bob") == (ErrorCode.SASL_AUTHENTICATION_FAILED, 0)
    assert not login.is_complete


def test_the_mechanism_stays(login: SaslLogin) -> None:
    assert handshake(login, 2_000, "SCRAM-SHA-256") is not None


def test_nothing_else_is_answered_between_handshake_and_token(login: SaslLogin) -> None:
    handshake(login, 2_000)
    refused = login.receive(REQUEST, 2_000)
    assert refused is not None
    assert refused.failed is not None


def test_a_second_handshake_within_a_second_is_the_servers_to_refuse(login: SaslLogin) -> None:
    handshake(login, 2_000)
    token(login, 2_000)
    assert login.receive(frame(SASL_HANDSHAKE, 1, mechanism="PLAIN"), 2_999) is None


def test_without_a_lifetime_a_login_is_good_for_ever() -> None:
    login = SaslLogin(Users({"alice": Secret("alice")}), ("PLAIN",), 0)
    handshake(login, 0)
    assert token(login, 0) == (0, 0)
    assert login.receive(REQUEST, 1 << 60) is None
    assert login.receive(frame(SASL_HANDSHAKE, 1, mechanism="PLAIN"), 5_000) is None


FRAMES = st.one_of(
    st.binary(max_size=60),
    st.builds(
        lambda version, mechanism: frame(SASL_HANDSHAKE, version, mechanism=mechanism),
        st.integers(0, 1),
        st.sampled_from(("PLAIN", "SCRAM-SHA-256", "GSSAPI", "")),
    ),
    st.builds(
        lambda version, token: frame(SASL_AUTHENTICATE, version, auth_bytes=token),
        st.integers(0, 2),
        st.one_of(
            st.binary(max_size=40),
            st.sampled_from(
                (plain("alice", "wrong"), b"n,,n=alice,r=abc", b"y,,n=alice,r=abc", b"n,a=bob,n=alice,r=abc",
                 b"p=tls-unique,,n=alice,r=abc", b"n,,n=al=2Cice,r=abc", b"n,,m=x,n=alice,r=abc",
                 b"c=biws,r=abc,p=AAAA")
            ),
        ),
    ),
)  # fmt: skip


@settings(max_examples=cases("KOHORT_EXAMPLES", 300, many=20_000))
@given(frames=st.lists(st.tuples(FRAMES, st.integers(-1, 300)), max_size=6))
def test_nothing_but_a_password_lets_anybody_in(frames: list[tuple[bytes, int]]) -> None:
    login = SaslLogin(Users({"alice": Secret("secret")}), ("PLAIN", "SCRAM-SHA-256"), LIFETIME_MS)
    for sent, cut in frames:
        try:
            login.receive(sent if cut < 0 else sent[:cut], 0)
        except DecodeError:
            break
        assert not login.is_complete
        assert login.user is None
