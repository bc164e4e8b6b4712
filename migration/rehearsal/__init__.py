"""Rehearsals: a plan played on the group as it was found, before a process is restarted.

The plan is not safe if a gate opens before the members themselves have settled, or an invariant is violated.
"""
