"""Problems of a group, with their start and remedies, from one observation or, better, several.

`observation` is the observed state of a group, `case` the input and output of a rule, `catalog` the list of rules,
`diagnose` computes the verdict.
"""
