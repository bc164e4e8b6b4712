"""Gates: may the operator go on from a step of a plan, as far as the group shows it?

Theory of operation. A gate looks at one description of the group (`Observation`) and answers true, false or "cannot
tell" for each condition of the step (`checks.py`), and for what holds at every gate without being written in the plan
(`judge.py`). It is open when all of them hold, closed when one does not, and else nobody can tell. Before that come
three questions whose answer no waiting changes: is this the plan's group at all and has the group left the plan (both
in `staleness.py`)?

Nobody sees a restart. What is seen is that a member id has gone and another has come (`Turnover`), so a gate must
know the ids that the group had when the step began: the plan's baseline for the first step, and for later ones what
was noted when the gate before opened (`notes.py`).
"""
