"""The releases of Kafka that the coordinator and the server can answer like, and all that differs between them."""

from enum import Enum

RELEASE = "kohort.release"
"""The setting, which is Kohort's own."""


class Release(Enum):
    """A release whose behavior is implemented."""

    KAFKA_4_3 = "4.3.1"
    KAFKA_4_4 = "4.4.0"

    @property
    def assignor_moves_epoch(self) -> bool:
        """Whether the group epoch increases when members request another assignor (KAFKA-20434)."""
        return self is not Release.KAFKA_4_3

    @property
    def assigns_emptied_groups(self) -> bool:
        """Whether the assignment epoch follows the group epoch when the last member leaves (KAFKA-20442)."""
        return self is not Release.KAFKA_4_3

    @property
    def metadata_version(self) -> int:
        """The newest level of `metadata.version`."""
        return 30 if self is Release.KAFKA_4_3 else 33

    def newest(self, api: str, version: int) -> int:
        """The newest version that the release lists of an API whose newest version is `version`."""
        return min(version, _OLDER[api]) if self is Release.KAFKA_4_3 and api in _OLDER else version


_OLDER = {"ApiVersions": 4, "DeleteGroups": 2, "TxnOffsetCommit": 5}
"""The newest versions of 4.3.1, where 4.4.0 has newer ones (KIP-1242, KIP-1331, KIP-1319)."""
