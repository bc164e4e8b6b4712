"""Rehearsals: a plan played on the group as it was found, before a process is restarted.

`simulation.py` is the group in its simulated world, as a broker would describe it; `plan_run.py` carries the plan out
on it and checks each gate as `kohort gate` does. The plan is not safe if a gate opens before the members themselves
have settled, or if an invariant of the simulation is violated.
"""
