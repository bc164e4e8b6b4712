"""The ways from one protocol to another, as steps: a file each, and `choose.py`, which takes one."""

from migration.paths.choose import choose_path, has_arrived, leader_matters
from migration.paths.path import Path, Trip, planned_members

__all__ = ["Path", "Trip", "choose_path", "has_arrived", "leader_matters", "planned_members"]
