"""Counts agree with their nouns and verbs."""

from __future__ import annotations

import pytest

from groups.counts import counted, share


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 1, "0 of 1 member has"),
        (1, 1, "1 of 1 member has"),
        (0, 3, "0 of 3 members have"),
        (1, 3, "1 of 3 members has"),
        (2, 1200, "2 of 1,200 members have"),
    ],
)
def test_a_share_agrees_with_its_noun_and_verb(part: int, whole: int, text: str) -> None:
    assert share(part, whole, "member", ("has", "have")) == text


def test_a_share_needs_no_verb() -> None:
    assert (share(0, 1, "round"), counted(1, "round"), counted(0, "round")) == (
        "0 of 1 round",
        "1 round",
        "0 rounds",
    )
