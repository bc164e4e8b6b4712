"""The word check finds phrases over lines and in names, and takes None for a value."""

import pytest

from tests.docs.words import Use, find_uses


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("a\nGoes\n    # on", 2, "goes on"),
        ("def test_offsets_are_told() -> None:", 1, "told"),
        ("the\n\nmakesNoSense", 3, "makes no sense"),
        ("a group that is none", 1, "is none"),
        ('"""Nobody."""', 1, "nobody"),
    ],
)
def test_a_word_is_found_with_its_line(text: str, line: int, word: str) -> None:
    (use,) = find_uses(text)
    assert (use.line, use.word) == (line, word)


@pytest.mark.parametrize(
    "text",
    ["if group is None:", "there is none", "it goes, on a line", "retold", "the group stands", "threes"],
)
def test_what_only_looks_like_a_word_is_not_found(text: str) -> None:
    assert list(find_uses(text)) == []


def test_each_use_comes_with_its_remedy() -> None:
    assert list(find_uses("done anew")) == [Use(line=1, word="anew", instead="again")]
