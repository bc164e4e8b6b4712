"""What is left of the story: the broker's log, the script's notes, and the tables that the history makes of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.history import HistoryRun, Logs, run_history
from pipeline.store import read
from tests.kafka.tool_host import ToolHost
from tests.pipeline.story.notes import Notes
from tests.pipeline.story.script import make_story

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

REUSE = "KOHORT_STORY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    data: Path
    notes: Notes


@pytest.fixture(scope="session")
def story(kafka_jars: Path, tools: ToolHost, tmp_path_factory: pytest.TempPathFactory) -> Story:
    made = os.environ.get(REUSE)
    directory = Path(made) if made else tmp_path_factory.mktemp("story")
    if not made:
        make_story(kafka_jars, tmp_path_factory.mktemp("story-scratch"), tools, directory)
    return Story(data=directory / "data", notes=Notes.load(directory))


@pytest.fixture(scope="session")
def history(story: Story, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> HistoryRun:
    return run_history(
        spark, Logs(paths=(str(story.data),)), str(tmp_path_factory.mktemp("story-tables") / "out")
    )


@pytest.fixture(scope="session")
def rows(history: HistoryRun, spark: SparkSession) -> Callable[[str], list[Row]]:
    return lambda table: read(spark, history.out, table).collect()
