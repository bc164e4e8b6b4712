"""`--delete`: groups without members are deleted, with everything that they have committed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cli.dropin.cluster import chosen_groups
from cli.dropin.kafka_errors import exception_text, status_of
from cli.dropin.parse import Options
from cli.dropin.printing import print_error
from cli.sources.live import LiveSource
from wire.client.answers import Failure


def run(options: Options, source: LiveSource) -> int:
    """Delete the groups and print which are gone and which are not; the exit status."""
    names = chosen_groups(options, source)
    outcome = _delete(source, names)
    failed = {name: why for name in names if (why := outcome[name]) is not None}
    gone = _quoted(name for name in names if name not in failed)
    if not failed:
        print(f"Deletion of requested consumer groups ({gone}) was successful.")
        return status_of(())
    print_error("Deletion of some consumer groups failed:")
    for name, why in failed.items():
        print(f"* Group '{name}' could not be deleted due to: {exception_text(why)}")
    if gone:
        print(f"\nThese consumer groups were deleted successfully: {gone}")
    return status_of(failed.values())


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _delete(source: LiveSource, names: list[str]) -> dict[str, Failure | None]:
    """By group None where it is gone, or why it is not."""
    if source.client is not None:
        failed = source.client.delete_groups(names).failed
    else:
        # Java has words of its own for what a broker refuses.
        told = source.admin.delete_groups(names).failed
        failed = {
            name: why if why.code is None else replace(why, message=why.name or why.message)
            for name, why in told.items()
        }
    return {name: failed.get(name) for name in names}
