"""Pages of HTML: whole, harmless, and with all of their content."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.render.cells import safe_text
from cli.render.document import (
    Block,
    Bullets,
    Checklist,
    Code,
    Details,
    Heading,
    Item,
    Picture,
    Table,
    Text,
    columns,
)
from cli.render.lanes import draw
from cli.render.lines import Role
from cli.render.output_format import OutputFormat
from cli.verbs.plan.timeline import PlanTimeline, timeline_drawing, timeline_of
from groups.model import Problem
from tests.cli.render.rendered import rendered_blocks
from tests.migration.test_expectation import BOTH, CONSUMER, COOPERATIVE, foreseen, group_of, one_by_one
from tests.support.html_pages import Page

HOSTILE = (
    "</title></style><script>alert(1)</script><img src=x onerror=y> & \"quoted\" 'single' \x1b[31m \u202e"
)


def page_of(*blocks: Block, errors: tuple[Problem, ...] = ()) -> str:
    return rendered_blocks(OutputFormat.HTML, *blocks, errors=errors)


def timeline(members: int = 3, partitions: int = 12, name: str = "") -> PlanTimeline:
    group = group_of("range", members, partitions)
    courses = (one_by_one(group, BOTH), one_by_one(group, COOPERATIVE), one_by_one(group, CONSUMER))
    names = {member.id: name + member.id for member in group.members}
    made = timeline_of(foreseen(group, *courses).settled_groups, names, 3 * members)
    assert made is not None
    return made


def everything(text: str) -> tuple[Block, ...]:
    return (
        Heading(text, level=1),
        Text(text),
        Table(columns=columns(text, "#NUMBER"), rows=[(text, 1), (None, None)]),
        Checklist((text, text)),
        Item(lead=text, text=text, details=(text,), role=Role.BAD),
        Details(summary=text, blocks=(Bullets((text,)), Text(text, Role.FAINT))),
        Code((text, "second"), language=text),
        Picture(text=text, drawing=lambda: timeline_drawing(timeline(name=text), text, text)),
    )


def test_a_page_needs_nothing_else_and_runs_nothing() -> None:
    text = page_of(*everything(HOSTILE), errors=(Problem(subject=HOSTILE, message=HOSTILE),))
    page = Page(text)
    page.check_harmless()
    attributes = [attributes for _, attributes in page.tags]
    assert not any("style" in names for names in attributes)
    assert any(names.get("role") == "alert" for names in attributes)
    assert set(re.findall(r"url\(([^)]*)\)", text)) == {"#away"}
    policies = [
        names["content"] for names in attributes if names.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]
    assert not any(mark in text for mark in ("@import", "\x1b", "\u202e"))


@given(st.text(max_size=40))
def test_any_text_is_shown_as_it_is(text: str) -> None:
    page = Page(page_of(Heading(text), Code((text,)), Table(columns=columns("A"), rows=[(text,)])))
    shown = safe_text(text)
    assert page.texts["title"][0] == shown
    assert page.texts["td"] == [shown if shown != "\N{BALLOT BOX}" else ""]
    assert page.texts["code"][-1] == shown


def test_things_to_do_have_boxes_to_tick() -> None:
    table = Table(columns=columns("DONE", "WHAT"), rows=[("\N{BALLOT BOX}", "three")])
    page = Page(page_of(Checklist(("one", "two")), table))
    boxes = [attributes for tag, attributes in page.tags if tag == "input"]
    assert [box["type"] for box in boxes] == ["checkbox"] * 3
    assert page.texts["span"] == ["one", "two"]
    assert len([tag for tag, _ in page.tags if tag == "label"]) == 2


@pytest.mark.parametrize("members", [1, 3, 30, 31, 150])
def test_a_drawing_is_sound_and_says_what_it_shows(members: int) -> None:
    shown = timeline(members, 2 * members, name="\N{LATIN SMALL LETTER O WITH DIAERESIS} <&> ")
    root = ElementTree.fromstring("".join(draw(timeline_drawing(shown, "The <title>", "The text"), "p7")))
    assert root.tag == "svg"
    assert root.get("role") == "img"
    labels = (root.get("aria-labelledby") or "").split()
    by_id = {element.get("id"): element.text for element in root.iter() if element.get("id")}
    assert [by_id[label] for label in labels] == ["The <title>", "The text"]
    _, _, width, height = map(float, (root.get("viewBox") or "").split())
    for box in root.iter("rect"):
        x, y, wide, high = (float(box.get(name) or "nan") for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + wide <= width + 0.2
        assert 0 <= y <= y + high <= height + 0.2
        assert wide > 0
    texts = [element.text or "" for element in root.iter("text")]
    assert {"group", "rebalances"} <= set(texts) or any("at most" in text for text in texts)
    titles = [element.text or "" for element in root.iter("title")]
    assert any(title.startswith("group: classic, range, ") for title in titles)
    assert any("consumer" in title for title in titles)
