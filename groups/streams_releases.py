"""What the release of Kafka Streams and `upgrade.from` decide about a thread: the versions of its assignor's data, and
whether it is eager (AssignorConfiguration; KIP-268, KIP-429; releases 2.3.1, 2.8.2, 3.9.1 and 4.4.0, tried)."""

from dataclasses import dataclass
from typing import Self, TypeAlias

from wire.messages.streams_assignor import NEWEST_VERSION, OLDEST_WITH_OFFSET_SUMS

Release: TypeAlias = tuple[int, ...]

OLDEST_COOPERATIVE = 5
"""The newest version known to Kafka Streams 2.4, the first release that can rebalance cooperatively."""
FIRST_RELEASES = {
    1: "0.10.0",
    2: "0.10.1",
    3: "2.0",
    4: "2.1",
    5: "2.4",
    6: "2.5",
    7: "2.6.0",
    8: "2.6.1",
    9: "2.8",
    10: "3.0",
    11: "3.2",
}
"""The first release of Kafka Streams that knows each version."""
COOPERATIVE_SINCE: Release = (2, 4)
EAGER_UNTIL: Release = (4, 0)
LONG_SESSIONS_SINCE: Release = (3, 0)  # session.timeout.ms: 45 s, before 10 s (KIP-735)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRelease:
    """A thread of a release, started with this `upgrade.from`."""

    newest: int  # The newest version of the data that it knows
    sent: int  # The version that it sends first
    is_eager: bool
    session_timeout_ms: int  # By default

    @classmethod
    def of(cls, release: str | None, upgrade_from: str | None) -> Self:
        """None: the newest release, and no `upgrade.from`. Raises ValueError: a text is no release, or this release
        does not start with this `upgrade.from`."""
        number = None if release is None else release_number(release)
        old = None if upgrade_from is None else release_number(upgrade_from)
        if old is not None and not _is_accepted(number, old):
            of_release = "" if release is None else f" {release}"
            raise ValueError(f"Kafka Streams{of_release} does not start with upgrade.from={upgrade_from}")
        newest = NEWEST_VERSION if number is None else newest_known(number)
        return cls(
            newest=newest,
            sent=newest if old is None or old >= (2, 0) else newest_known(old),
            is_eager=newest < OLDEST_COOPERATIVE or (old is not None and old < COOPERATIVE_SINCE),
            session_timeout_ms=10_000 if number is not None and number < LONG_SESSIONS_SINCE else 45_000,
        )

    @property
    def is_cooperative_leader(self) -> bool:
        """Whether, as the leader, it considers what members own, and assigns tasks to members of newer versions."""
        return self.newest >= OLDEST_COOPERATIVE

    @property
    def keeps_process_id(self) -> bool:
        """Whether its process has the same id after a restart, if it has state on a disk, from 2.8 on (KAFKA-10716)."""
        return self.newest >= 9

    @property
    def knows_lags(self) -> bool:
        """Whether, as the leader, it assigns tasks by their lags (KIP-441), from 2.6 on."""
        return self.newest >= OLDEST_WITH_OFFSET_SUMS


def release_number(text: str) -> Release:
    """Raises ValueError: the text is not numbers with dots."""
    parts = text.split(".")
    if len(parts) < 2 or not all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
        raise ValueError(f"{text!r} is no release, such as 3.9.1")
    return tuple(map(int, parts))


def newest_known(release: Release) -> int:
    """The newest version of the data that the release knows."""
    versions = (version for version, first in FIRST_RELEASES.items() if release_number(first) <= release)
    return max(versions, default=1)


def _is_accepted(release: Release | None, old: Release) -> bool:
    """Whether the release starts with `upgrade.from` of an old one: 4.0 has none before 2.4 (KAFKA-18839)."""
    if release is None or release >= EAGER_UNTIL:
        return old >= COOPERATIVE_SINCE
    return old < release[:2] and (old < (2, 0) or release >= COOPERATIVE_SINCE)
