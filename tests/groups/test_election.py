"""The identity and the election that members of Schema Registry send as JSON (B23)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.election import ElectionCandidate, candidate

IDENTITY: dict[str, Any] = {
    "version": 1,
    "host": "a",
    "port": 8081,
    "master_eligibility": True,
    "scheme": "https",
}
OUTCOME: dict[str, Any] = {"version": 1, "error": 1, "master": "member-1", "master_identity": IDENTITY}
KNOWN = ElectionCandidate(url="https://a:8081", eligible=True, elected="member-1", error=1)


@pytest.mark.parametrize(
    ("identity", "outcome", "expected"),
    [
        (IDENTITY, OUTCOME, KNOWN),
        (
            {**IDENTITY, "scheme": None, "karapace_version": "5"},
            {},
            ElectionCandidate(url="http://a:8081", eligible=True),
        ),
        (
            {**IDENTITY, "port": "8081", "master_eligibility": 1},
            {"master": 1, "error": True},
            ElectionCandidate(),
        ),
        (
            {**IDENTITY, "host": "\ud800", "port": 0},
            {"error": 1 << 40},
            ElectionCandidate(url="https://?:0", eligible=True),
        ),
        ([IDENTITY], None, ElectionCandidate()),
    ],
)
def test_only_fields_of_the_right_kind_are_known(
    identity: object, outcome: object, expected: ElectionCandidate
) -> None:
    assert candidate(json.dumps(identity).encode(), json.dumps(outcome).encode()) == expected


@pytest.mark.parametrize("data", [b"", b"\xff", b"[" * 100_000, b"9" * 10_000, b"NaN"])
def test_what_is_not_json_is_not_known(data: bytes) -> None:
    assert candidate(data, data) == ElectionCandidate()


@given(st.binary(max_size=60), st.integers(0, 200))
def test_damaged_identities_are_read_or_not_known(data: bytes, position: int) -> None:
    text = json.dumps(IDENTITY).encode()
    shown = candidate(text[:position] + data + text[position + len(data) :], text[:position])
    assert (shown.url or "").encode().decode() == (shown.url or "")
