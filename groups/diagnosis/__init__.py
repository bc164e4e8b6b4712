"""What is wrong with a group, since when, and what to do: worked out from one observation, better from several.

`observation` has what a look at a group shows, `case` what a rule may ask of all looks and how it reports, `catalogue`
the rules, `diagnose` the verdict.
"""
