"""Gates: whether the operator can continue after a step of a plan, as far as the group shows it.

A gate evaluates one description of the group (`GateObservation`) to true, false or unknown for the step's conditions
(`checks.py`) and those of every gate (`judge.py`), after it has checked that the plan is for this group and the group
is not off plan. A broker does not show a restart, only that one member id has left and another has joined, so a gate
must know the ids that the group had when the step started: from the plan, or from the notes of the previous gate
(`notes.py`).
"""
