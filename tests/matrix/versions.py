"""The brokers of the matrix: one of each release that an operator may still run, from Maven Central."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A broker to try Kohort on. `settings` are over those of `tests/kafka/settings.py`; `features` are finalized
    when the storage is formatted, where the version's own levels leave something out; `types`: those of its
    coordinator's groups."""

    version: str
    settings: Mapping[str, str] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)
    types: tuple[str, ...] = ("classic",)

    @property
    def release(self) -> str:
        return self.version.rpartition(".")[0]

    def since(self, release: str) -> bool:
        return _number(self.release) >= _number(release)


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


_PROTOCOLS = "group.coordinator.rebalance.protocols"
_ALL = ("classic", "consumer", "share", "streams")

RELEASES: tuple[Release, ...] = (
    Release(version="3.5.2"),
    # The new coordinator was a preview, which an operator had to ask for.
    Release(
        version="3.9.1",
        types=("classic", "consumer"),
        settings={"group.coordinator.new.enable": "true", _PROTOCOLS: "classic,consumer"},
    ),
    Release(version="4.0.2", types=("classic", "consumer")),
    # Share groups were a preview, streams groups early access.
    Release(
        version="4.1.2",
        types=_ALL,
        features={"share.version": 1, "streams.version": 1},
        settings={
            "unstable.feature.versions.enable": "true",
            "unstable.api.versions.enable": "true",
            _PROTOCOLS: "classic,consumer,share,streams",
        },
    ),
    Release(version="4.2.1", types=_ALL),
    Release(version="4.3.1", types=_ALL),
    Release(version="4.4.0", types=_ALL),
)
