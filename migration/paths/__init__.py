"""The ways from one protocol to another, as steps: a file each, and `choose.py`, which takes one."""

from migration.paths.choose import choose_path, has_arrived
from migration.paths.path import Path
from migration.paths.trip import Trip, planned_members

__all__ = ["Path", "Trip", "choose_path", "has_arrived", "planned_members"]
