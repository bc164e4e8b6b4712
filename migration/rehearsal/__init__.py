"""Rehearsals: a plan played on the group as found; not safe if a gate opens before the members have settled."""
