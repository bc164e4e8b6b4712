"""Which topics of a streams group are its own."""

from groups.streams import Subtopology, Topology, is_internal


def test_internal_topics_are_named_after_the_application() -> None:
    internal = (
        "app-counts-changelog",
        "app-counts-repartition",
        "app-x-subscription-registration-topic",
        "app-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic",
        "app-x-subscription-response-topic",
        "app-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-14-topic",
    )
    others = (
        "app-changelog-archive",
        "app-changelog\n",
        "other-counts-changelog",
        "application-counts-changelog",
        "app-orders",
    )
    assert [topic for topic in (*internal, *others) if is_internal(topic, "app")] == [*internal]


def test_only_own_topics_that_no_input_topic_is_among_are_internal() -> None:
    between = ("app-a-repartition",)
    first = Subtopology(id="0", source_topics=("in", "app-read-changelog"), repartition_sinks=between)
    changelogs = ("app-b-changelog", "app-read-changelog", "shared-changelog")
    second = Subtopology(id="1", repartition_sources=between, changelogs=changelogs)
    internal = Topology(epoch=0, subtopologies=(first, second)).internal_topics("app")
    assert internal == {"app-a-repartition": "repartition", "app-b-changelog": "changelog"}
