"""Markdown: a CommonMark parser reads every text from a cluster as it is, and GitHub links nothing in it."""

from collections.abc import Iterator
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cli.render.cells import Link, cell_text, safe_text
from cli.render.document import Block, Bullets, Checklist, Code, Column, Heading, Item, Table, Text, columns
from cli.render.output_format import OutputFormat
from tests.cli.render.rendered import rendered_blocks

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
NAMES = (
    "<img src=x onerror=y>", "<!-- x", "**bold**", "_under_ snake_case", "~~gone~~", "a|b\\|c\\", "[x](http://y)",
    "[ ] x", "![x](y)", "&amp; & &x", "# x #", "- x", "+ x", "1. x", "12) x", "> x", "---", "===", "    x", " x ",
    "\tx", "`code`", "a `b` c", "line\nbreak", "\\*", "$a$", "a`b", "a``b`c", "`", "```sh", "~~~", "",
)  # fmt: skip
LINKED = {
    "by @alice today": "@alice", "team @org/team": "@org/team", "fix #1": "#1", "org/repo#12": "org/repo#12",
    "GH-7": "GH-7", "see http://x.y/z now": "http://x.y/z", "www.x.y": "www.x.y", "mail a.b@c.de": "a.b@c.de",
    ":+1: :smile:": ":+1:",
}  # fmt: skip
"""What GitHub would link, by the text that contains it."""
PIECES = st.sampled_from([*"`*_#@<>&|\\[]()!-+=~.:$ 1ab\té/", *NAMES, *LINKED, "www.", "http://"])


def inline(*blocks: Block) -> Iterator[tuple[str, list[str]]]:
    """The text of each part, with the pieces of code in it; markup of any other kind is an error."""
    for token in PARSER.parse(rendered_blocks(OutputFormat.MARKDOWN, *blocks)):
        assert token.type != "html_block"
        if token.type == "inline":
            pieces = token.children or []
            assert {piece.type for piece in pieces} <= {"text", "code_inline", "strong_open", "strong_close"}
            codes = [piece.content for piece in pieces if piece.type == "code_inline"]
            yield "".join(piece.content for piece in pieces), codes
        elif token.type == "fence":
            yield token.content, []


def check_shown(name: str) -> None:
    text = safe_text(name)
    table = Table(columns=(Column(name), Column("B")), rows=[(name, name)])
    texts = [text for text, _ in inline(table, Code((name, "end")))]
    assert texts == [text, "B", text, text, f"{text}\nend\n"]
    texts = [text for text, _ in inline(Heading(name), Checklist((name,), is_prose=False))]
    assert texts == [text, f"[ ] {text}" if text else "[ ]"]
    if "`" not in name:
        card = Item(lead="L", text=name or "x", details=(name or "x",))
        item, bullets = Item(lead=f"{name}:", text="x"), Bullets((name or "x",))
        blocks = Heading(name), Checklist((name,)), item, card, bullets
        texts = [text for text, _ in inline(*blocks)]
        boxed = f"[ ] {text}" if text else "[ ]"
        assert texts == [text, boxed, f"{text}: x", f"L {text or 'x'}", text or "x", text or "x"]


def test_a_name_is_not_markup() -> None:
    for name in NAMES:
        check_shown(name)


@given(st.lists(PIECES, max_size=8).map("".join))
def test_no_characters_together_are_markup(name: str) -> None:
    check_shown(name)


@pytest.mark.parametrize("text", LINKED)
def test_github_links_nothing_in_a_name(text: str) -> None:
    for shown, codes in inline(Text(text), Table(columns=columns("A"), rows=[(text,)])):
        assert shown == "A" or (shown == text and LINKED[text] in codes)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Run `kohort list`, then `kohort plan`.", ["kohort list", "kohort plan"]),
        ("Run `kohort describe 'a`b'` now", ["kohort describe 'a`b'"]),
        ("--match `^a|b$` is invalid", ["^a|b$"]),
        ("the group a`b and the group c`d", []),
        ("12:30:45, a_b_c and c:1", []),
    ],
)
def test_prose_has_code_where_backticks_surround_words(text: str, codes: list[str]) -> None:
    ((shown, fragments),) = inline(Text(text))
    assert fragments == codes
    assert shown == (text if not codes else shown)
    table = Table(columns=columns("FINDING"), rows=[(text,)])
    assert [part for _, part in inline(table)] == [[], codes]
    html = rendered_blocks(OutputFormat.HTML, Text(text))
    assert html.count("<code>") == len(codes)


def test_a_link_has_the_text_of_a_name_in_a_page_too() -> None:
    for name in filter(None, NAMES):
        table = Table(columns=columns("GROUP"), rows=[(Link(name, "a%20b.yaml.run/report.html"),)])
        tokens = PARSER.parse(rendered_blocks(OutputFormat.MARKDOWN, table))
        cell = [token for token in tokens if token.type == "inline"][1]
        links = [piece.attrs["href"] for piece in cell.children or [] if piece.type == "link_open"]
        assert links == ["a%20b.yaml.run/report.html"], name
        page = rendered_blocks(OutputFormat.HTML, table)
        assert (
            f'<a href="a%20b.yaml.run/report.html">{escape(cell_text(safe_text(name), "GROUP"))}</a>' in page
        )
        assert rendered_blocks(OutputFormat.CSV, table).splitlines()[0] == "GROUP"
