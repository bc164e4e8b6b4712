"""Gates: whether the operator can continue after a step of a plan, as far as the group shows it.

Theory of operation. A gate looks at one description of the group (`Observation`) and answers true, false or "cannot
tell" for each condition of the step (`checks.py`), and for what holds at every gate without being written in the plan
(`judge.py`). It is open when all of them hold, closed when one does not, and otherwise unknown. Two checks come first,
as waiting does not change their answer: whether this is the plan's group, and whether the group is off plan (both in
`staleness.py`).

A broker does not show a restart, only that one member id has left and another has joined (`Turnover`). So a gate must
know the ids that the group had when the step began: the plan's baseline for the first step, and for later ones what
was noted when the gate before opened (`notes.py`).
"""
