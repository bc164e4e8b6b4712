"""Gates: whether the operator can continue after a step of a plan, as far as the group shows it.

Theory of operation. A gate evaluates one description of the group (`GateObservation`) to true, false or unknown for
each condition of the step (`checks.py`), and for the conditions of every gate, which no plan contains (`judge.py`).
The gate is open if all conditions hold, closed if one does not, and otherwise unknown. Two checks come first, as
waiting does not change their result: whether the plan is for this group, and whether the group is off plan.

A broker does not show a restart, only that one member id has left and another has joined (`MembershipDiff`). So a
gate must know the ids that the group had when the step started: the plan's baseline for the first step, and for later
steps the notes of the previous gate (`notes.py`).
"""
