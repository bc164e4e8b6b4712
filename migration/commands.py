"""Commands that a plan names, as they are pasted into a shell: a group id may hold anything."""

from __future__ import annotations

import re
import shlex

_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")


def list_if(group: str, options: str) -> str:
    """`kohort list` that shows the group if the options are true of it, and nothing else."""
    literal = _SPECIAL.sub(lambda found: "\\" + found.group(), group)
    return f"kohort list --match {shlex.quote(f'^{literal}$')} {options}"


def describe_members(group: str) -> str:
    """`kohort describe` of the group's members."""
    if group.startswith("-"):
        return f"kohort describe --members --verbose -- {shlex.quote(group)}"
    return f"kohort describe {shlex.quote(group)} --members --verbose"
