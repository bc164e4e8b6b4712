"""Counts agree with their nouns and verbs."""

from groups.counts import counted, share


def test_a_share_agrees_with_its_noun_and_verb() -> None:
    texts = [
        share(part, whole, "member", ("has", "have")) for part, whole in ((0, 1), (1, 1), (0, 3), (1, 3))
    ]
    assert texts == ["0 of 1 member has", "1 of 1 member has", "0 of 3 members have", "1 of 3 members has"]
    assert share(2, 1200, "member", ("has", "have")) == "2 of 1,200 members have"
    assert [share(0, 1, "round"), counted(1, "round"), counted(0, "round")] == [
        "0 of 1 round",
        "1 round",
        "0 rounds",
    ]
