"""The features of a cluster, and the document of `kohort features list`."""

from collections.abc import Mapping
from dataclasses import dataclass

from cli.errors import CommandError
from cli.render.document import Document, table_of
from cli.sources.source import Source
from cli.sources.wire_source import WireSource
from groups.features import ClusterFeature, Supported, features_of, level_name, meaning
from groups.listing import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFeatures:
    """The features of a cluster by name. `epoch` is None if it is not known."""

    epoch: int | None
    by_name: Mapping[str, ClusterFeature]
    problems: tuple[Problem, ...] = ()


def read_features(source: Source) -> ReadFeatures:
    """Ask every broker; offline, the finalized levels. Raises CommandError: none is known. Raises WireError."""
    if not isinstance(source, WireSource):
        finalized = source.cluster().features
        if not finalized:
            raise CommandError(f"{source.name}: the cluster's features are not known from this source")
        return ReadFeatures(epoch=None, by_name={one.name: one for one in features_of(finalized, {})})
    from wire.client.features import describe_features

    answers = describe_features(source.client)
    if not answers.found:
        raise CommandError(f"{source.name}: {next(iter(answers.failed.values())).message}")
    # While a change spreads, the broker with the highest epoch knows the newest levels.
    newest = max(answers.found.values(), key=lambda broker: -1 if broker.epoch is None else broker.epoch)
    supported = {
        node: {name: Supported(*levels) for name, levels in broker.supported.items()}
        for node, broker in answers.found.items()
    }
    return ReadFeatures(
        epoch=newest.epoch,
        by_name={one.name: one for one in features_of(newest.levels, supported)},
        problems=tuple(
            Problem(subject=f"broker {node}", message=failure.message)
            for node, failure in answers.failed.items()
        ),
    )


def features_document(read: ReadFeatures) -> Document:
    features = list(read.by_name.values())
    table = table_of(
        features,
        ("FEATURE", "name"),
        ("FINALIZED", lambda feature: level_name(feature.name, feature.finalized)),
        ("SUPPORTED", lambda feature: supported_text(feature.name, feature.supported)),
        ("MEANING", lambda feature: meaning(feature.name, feature.finalized)),
    )
    return Document(
        command="features list",
        data={"epoch": read.epoch, "features": list(map(feature_data, features))},
        blocks=[table],
        errors=read.problems,
        remarks=tuple(text for feature in features if (text := _differing(feature))),
    )


def supported_text(feature: str, levels: Supported | None) -> str | None:
    if levels is None:
        return None
    lowest, highest = level_name(feature, levels.lowest), level_name(feature, levels.highest)
    return lowest if lowest == highest else f"{lowest} to {highest}"


def feature_data(feature: ClusterFeature) -> dict[str, object]:
    return {
        "feature": feature.name,
        "finalized": feature.finalized,
        "name": level_name(feature.name, feature.finalized),
        "meaning": meaning(feature.name, feature.finalized),
        "supported": feature.supported and _range_data(feature.supported),
        "brokers": [
            {"broker": broker, **_range_data(levels)} for broker, levels in sorted(feature.by_broker.items())
        ],
    }


def _range_data(levels: Supported) -> dict[str, int]:
    return {"min": levels.lowest, "max": levels.highest}


def _differing(feature: ClusterFeature) -> str:
    """Which brokers support other levels than the others; empty if none does."""
    brokers: dict[Supported, list[str]] = {}
    for broker, levels in sorted(feature.by_broker.items()):
        brokers.setdefault(levels, []).append(broker)
    if len(brokers) < 2:
        return ""
    texts = [
        f"{supported_text(feature.name, levels)} on {' '.join(nodes)}" for levels, nodes in brokers.items()
    ]
    return f"{feature.name}: brokers differ: {'; '.join(texts)}"
