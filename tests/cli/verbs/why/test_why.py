"""What `kohort why` prints about scripted courses, whole, and what it refuses."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.options import SourceOptions
from cli.render.output_format import OutputFormat
from cli.selection import ReusableSource, with_close_names
from cli.verbs.why.answer import WhyAnswer
from groups.listing import Cause, Problem
from tests.cli.command import Kohort
from tests.cli.verbs.why.answers import CRASHED, REBALANCING, SINCE, answer, printed
from tests.groups.history.courses import START, us
from tests.support.golden import assert_recorded


@pytest.mark.parametrize("output", ["table", "csv", "markdown", "json", "html"])
def test_each_format_shows_the_same_answer(output: str) -> None:
    form = OutputFormat(output)
    names = ("storm",) if output in ("json", "html") else ("storm", "rolling", "quiet", "compacted")
    answers = {name: printed(answer(name), form) for name in names}
    if output == "html":
        answers = {name: page.partition("<main>")[2] for name, page in answers.items()}
    if output == "table":
        answers["verbose"] = printed(answer("rolling"), form, verbose=True)
        answers["at"] = printed(answer("storm", at=CRASHED), form)
        answers["at, in a rebalance"] = printed(answer("storm", at=REBALANCING), form)
        answers["several"] = printed(answer("storm", "rolling", "quiet"), form)
    assert_recorded(f"why/{output}.txt", answers)


def test_an_answer_that_is_not_whole_fits_the_schema() -> None:
    (first,) = answer("storm", at=CRASHED).explanations
    unknown = WhyAnswer(
        source="log",
        since=us(SINCE),
        until=us(START),
        explanations=(first,),
        problems=(Problem(subject="log", message="torn"),),
    )
    assert '"at": {' in printed(unknown, OutputFormat.JSON)


REFUSED = [
    ("billing --snapshot S", 2, "a snapshot shows one moment"),
    ("billing --log-dir {sample} --as-of 1h", 2, "use --at TIME, or --until TIME"),
    ("", 2, "no groups given"),
    ("billing --all-groups", 2, "give only one of GROUP, --match and --all-groups"),
    ("billing --since 1h --until 2h", 2, "is not before --until"),
    ("billing --since 2001-01-01 --until 2001-01-02 --at 2001-01-03", 2, "is not in the time that was read"),
    ("billing --at yesterday", 2, "--at: 'yesterday' is not a time"),
    ("biling", 3, "biling: no record of it in {sample}; did you mean billing?"),
    ("--match ^zzz", 3, "no group in {sample} matches '^zzz'"),
]


@pytest.mark.parametrize(("words", "status", "reason"), REFUSED, ids=[words for words, _, _ in REFUSED])
def test_a_question_without_an_answer_is_refused(
    kohort: Kohort, sample: Path, words: str, status: int, reason: str
) -> None:
    source = "" if "--snapshot" in words or "--log-dir" in words else f"--embedded {sample}"
    answer = kohort.quick(f"why {words.format(sample=sample)} {source}")
    answer.assert_refused(reason.format(sample=sample), status=status)


def test_what_can_be_read_is_answered_and_the_rest_named(kohort: Kohort, sample: Path) -> None:
    answer = kohort.quick(f"why billing biling --embedded {sample} --output json")
    assert [group["group"] for group in answer.document["groups"]] == ["billing"]
    answer.assert_said(3, "biling: no record of it")


def test_a_picture_has_every_rebalance(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    kohort.quick(f"why billing --since 7d --embedded {sample} --svg", tmp_path / "owners.svg").succeeded()
    titles = ElementTree.parse(tmp_path / "owners.svg").iterfind(".//{*}rect/{*}title")
    assert sum(" UTC, epoch " in (title.text or "") for title in titles) == 18


def test_a_group_without_records_is_not_suggested_for_itself(sample: Path) -> None:
    problem = Problem(subject="audit", message="no record of it", cause=Cause.ABSENT, group="audit")
    with ReusableSource(SourceOptions(embedded=sample)) as opened:
        assert with_close_names(opened.get(), (problem,)) == (problem,)
