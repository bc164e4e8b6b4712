"""The report on a migration: from its events alone, whatever has been done to them."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.render.document import Details, Document, Picture, Table
from cli.render.lanes import draw
from cli.render.output_format import OutputFormat
from cli.verbs.migrate.course import courses_of
from cli.verbs.migrate.event_documents import EventDocument
from cli.verbs.migrate.report import report_document, write_reports
from tests.cli.render.rendered import rendered_blocks
from tests.cli.render.test_html import HOSTILE
from tests.cli.verbs.migrate.stories import STORIES, finished, others, resumed, rolled_back, stopped
from tests.cli.verbs.migrate.test_lines import DAMAGED
from tests.support.golden import assert_recorded
from tests.support.html_pages import Page
from tests.support.long import cases


def fleet() -> list[EventDocument]:
    """Four groups: two finish, one stops, one is rolled back; events of them alternate."""
    stories = {"billing": finished(), "orders": stopped(), "fraud": rolled_back(), "audit": resumed()}
    documents = [
        {**document, "group": group} for group, story in stories.items() for document in story.documents
    ]
    return sorted(documents, key=lambda document: str(document["at"]))


def markdown(document: Document) -> str:
    return rendered_blocks(OutputFormat.MARKDOWN, *document.blocks)


def check_harmless(document: Document) -> None:
    Page(rendered_blocks(OutputFormat.HTML, *document.blocks)).check_harmless()


def pictures(document: Document) -> list[Picture]:
    blocks = [*document.blocks]
    blocks += [inner for block in blocks if isinstance(block, Details) for inner in block.blocks]
    return [block for block in blocks if isinstance(block, Picture)]


def check_drawing(picture: Picture) -> None:
    """It is well-formed, and nothing is drawn outside of it."""
    root = ElementTree.fromstring("".join(draw(picture.drawing(), "p1")))
    _, _, width, height = map(float, (root.get("viewBox") or "").split())
    for box in root.iter("rect"):
        if box.get("width") != "100%":
            x, y, wide, high = (float(box.get(name) or "nan") for name in ("x", "y", "width", "height"))
            assert 0 <= x <= x + wide <= width + 0.6
            assert -0.2 <= y <= y + high <= height + 0.2


def test_a_report_is_as_before(tmp_path: Path) -> None:
    answers = {name: markdown(report_document(story().documents)) for name, story in STORIES.items()}
    answers["four groups"] = markdown(report_document(fleet()))
    answers["nothing"] = markdown(report_document(()))
    assert_recorded("migrate/reports.txt", answers)
    page = write_reports(tmp_path, finished().documents)
    assert page == tmp_path / "report.html"
    assert (tmp_path / "report.md").read_text() == answers["finished"]


@pytest.mark.parametrize("name", STORIES)
def test_a_timeline_has_a_lane_for_each_member(name: str) -> None:
    documents = STORIES[name]().documents
    (picture,) = pictures(report_document(documents))
    check_drawing(picture)
    labels = [text.text for lane in picture.drawing().lanes for text in lane.texts]
    restarted = dict.fromkeys(one["name"] for one in documents if one["event"] == "hook-began")
    assert [label for label in labels if label in restarted] == list(restarted)


def test_a_page_escapes_every_name() -> None:
    hostile = json.dumps(HOSTILE)[1:-1]
    text = json.dumps(fleet()).replace("m2", hostile).replace("orders", hostile)
    check_harmless(report_document(json.loads(text)))


def test_costs_of_a_step_are_those_of_all_runs_together() -> None:
    (course,) = courses_of(resumed().documents)
    assert [run.end for run in course.runs] == ["stopped", "", "finished"]
    first, second = course.steps[1], course.steps[2]
    assert first.is_partial
    assert not second.is_partial
    assert len(first.measured) == 2
    assert first.cost("without_owner_s") == sum(one.number("without_owner_s") or 0 for one in first.measured)


def test_events_of_others_and_damaged_ones_are_left_out() -> None:
    documents = [*finished().documents[:-1], *others(), finished().documents[-1]]
    assert courses_of(documents)[0].end == "finished"
    assert "another event: moon-rose" in markdown(report_document(documents))


@settings(max_examples=cases("KOHORT_DAMAGED_EVENTS", 60, many=20_000))
@given(st.lists(DAMAGED | st.sampled_from(fleet()), max_size=30), st.booleans())
def test_no_events_are_an_error(documents: list[EventDocument], is_one_group: bool) -> None:
    if is_one_group:
        documents = [{**document, "group": "payments"} for document in documents]
    read = json.loads(json.dumps(documents))
    document = report_document(read)
    for picture in pictures(document):
        check_drawing(picture)
    check_harmless(document)
    assert markdown(document)
    for block in document.blocks:
        assert not isinstance(block, Table) or {len(row) for row in block.rows} <= {len(block.columns)}
