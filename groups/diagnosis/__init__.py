"""Problems of a group, their start and their remedies: computed from one observation, better from several.

`observation` is the observed state of a group, `case` the input of a rule and how it reports,
`catalog` the rules, `diagnose` the verdict.
"""
