"""`kohort diagnose` raises no alarm on the groups of the story, which join, leave, crash and migrate as they should."""

from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.pipeline.story.conftest import Story

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize("looks", ["", "--for 20s", "--for 60s", "--for 3m"])
def test_groups_of_the_story_are_healthy(story: Story, tmp_path: Path, looks: str) -> None:
    answer = Kohort(tmp_path).quick(f"diagnose --all-groups {looks} --output json --log-dir", story.data)
    groups = answer.document["groups"]
    assert {group["group"]: group["findings"] for group in groups if group["verdict"] != "ok"} == {}
    assert len(groups) >= 15
