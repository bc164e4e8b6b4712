"""Problems of a group, with their start and remedies, from one observation or, better, several.

`case` has the observed state of a group, and the input and output of a rule; `diagnose` lists the rules and computes
the verdict.
"""
