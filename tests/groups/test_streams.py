"""Which topics of a streams group are its own."""

from __future__ import annotations

import pytest

from groups.streams import Subtopology, Topology, is_internal


@pytest.mark.parametrize(
    ("topic", "internal"),
    [
        ("app-counts-changelog", True),
        ("app-counts-repartition", True),
        ("app-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic", True),
        ("app-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-14-topic", True),
        ("app-x-subscription-registration-topic", True),
        ("app-x-subscription-response-topic", True),
        ("app-changelog-archive", False),
        ("app-changelog\n", False),
        ("other-counts-changelog", False),
        ("application-counts-changelog", False),
        ("app-orders", False),
    ],
)
def test_internal_topics_are_named_after_the_application(topic: str, internal: bool) -> None:
    assert is_internal(topic, "app") == internal


def test_only_own_topics_that_no_input_topic_is_among_are_internal() -> None:
    topology = Topology(
        epoch=0,
        subtopologies=(
            Subtopology(
                id="0", source_topics=("in", "app-read-changelog"), repartition_sinks=("app-a-repartition",)
            ),
            Subtopology(
                id="1",
                repartition_sources=("app-a-repartition",),
                changelogs=("app-b-changelog", "app-read-changelog", "shared-changelog"),
            ),
        ),
    )
    assert topology.internal_topics("app") == {
        "app-a-repartition": "repartition",
        "app-b-changelog": "changelog",
    }
