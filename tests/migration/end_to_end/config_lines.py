"""The configuration lines that a plan prints, applied to a client's configuration as `kohort migrate` does, and as a
person would where a line restores a setting."""

import re
from collections.abc import Iterable, Mapping

from migration.execution.settings import UnknownLibraryError, settings_after
from migration.model import Step

RESTORE = re.compile(r"#\s*restore, if it was set: (?P<key>[\w.-]+)\s*")


class UnclearLine(ValueError):
    """A line that a person would not know what to do with."""


def apply(
    lines: Iterable[str], config: Mapping[str, str], library: str, before: Mapping[str, str]
) -> dict[str, str]:
    """The configuration after `lines`; `before` is what to put back from."""
    step = Step(title="", actions=(), config=tuple(lines))
    try:
        change = settings_after([step], library)
    except UnknownLibraryError as error:
        raise UnclearLine(str(error)) from None
    if step.config and not (change.lines or change.removed or change.remarks):
        raise UnclearLine(f"no line is for {library}: {step.config}")
    kept = {key: value for key, value in config.items() if key not in change.removed}
    changed = {**kept, **change.lines}
    for remark in change.remarks:
        restored = RESTORE.fullmatch(remark)
        if restored is None:
            raise UnclearLine(remark)
        changed |= {key: before[key] for key in restored.groups() if key in before}
    return changed
