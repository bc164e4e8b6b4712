"""What is wrong with a group, since when, and what to do: worked out from one observation, better from several.

`observation` has what is observed of a group, `case` what a rule may ask of all observations and how it reports,
`catalog` the rules, `diagnose` the verdict.
"""
