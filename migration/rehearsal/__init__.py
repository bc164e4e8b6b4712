"""Rehearsals: a plan played on the group as it was found, before a process is restarted.

Theory of operation. `simulated_members.py` makes members of the simulation from those of the group; `simulation.py` is
the group in its simulated world, as a broker would describe it; `plan_run.py` carries the plan out on it, round after
round, and asks each gate what `kohort gate` asks. A gate that opens while the members themselves have not settled has
opened too early, and so has a plan that breaks an invariant of the simulation: neither is safe to follow.
"""
