"""The features of a cluster (KIP-584): those of each broker, and changes of their finalized levels."""

from collections.abc import Mapping, Sequence

from wire.client.cluster import KafkaClient
from wire.client.connection import SOFTWARE, BrokerFeatures, Connection, features_in
from wire.client.errors import Answers, UnsupportedApi
from wire.client.steps import Deadline, Replies, Steps
from wire.errors import Failure, outcome, refusal
from wire.messages.schemas.cluster import API_VERSIONS, UPDATE_FEATURES

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
"""FeatureUpdate.UpgradeType."""
_WITH_TYPES = 1


def describe_features(client: KafkaClient) -> Answers[str, BrokerFeatures]:
    """The features of every broker, by node id, asked now. Raises WireError: the brokers are not known."""

    def ask(broker: Connection, nodes: Sequence[str], deadline: Deadline) -> Replies[str, BrokerFeatures]:
        (response,) = yield from broker.ask(API_VERSIONS, [SOFTWARE], deadline)
        return dict.fromkeys(
            nodes, refusal(response.error_code) if response.error_code else features_in(response)
        )

    return client.ask_nodes([str(broker.node_id) for broker in client.metadata([]).brokers], ask)


def update_features(
    client: KafkaClient, levels: Mapping[str, int], upgrade_type: int, *, validate_only: bool
) -> Failure | None:
    """Finalize these levels, all or none, by any broker, which forwards the request to the controller; why not. A
    request that is repeated changes nothing more. Raises WireError: no broker has answered."""

    def ask(broker: Connection, deadline: Deadline) -> Steps[Failure | None]:
        yield from broker.open(deadline)
        if broker.version(UPDATE_FEATURES) < _WITH_TYPES:
            raise UnsupportedApi(
                f"{broker.address}: this broker cannot check a change of features without making it; Kafka 3.3 or "
                "newer can",
                address=broker.address,
            )
        updates = [
            {"feature": name, "max_version_level": level, "upgrade_type": upgrade_type}
            for name, level in levels.items()
        ]
        timeout_ms = int(deadline.remaining_ms())
        request = {"timeout_ms": timeout_ms, "feature_updates": updates, "validate_only": validate_only}
        (response,) = yield from broker.ask(UPDATE_FEATURES, [request], deadline)
        # Version 1 has a result for each feature, version 2 one for all.
        return outcome(response) or next(filter(None, map(outcome, response.results)), None)

    return client.ask_any(ask)
