"""Carrying a plan out: a state machine without I/O. Observations of the group, results of hooks and interrupts go in,
orders come out (`machine.py`); the operator's command, the cluster and the clock belong to `kohort migrate`, and in a
rehearsal to the simulation.

Who has been restarted is read off the group (`seats.py`): a run that was killed continues where the group is. What a
member's configuration is after a step is in `settings.py`, and what stops a run in `stops.py`.
"""
