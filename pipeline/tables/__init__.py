"""The tables of a history: their schemas, and how each is computed from the one before it.

events → rebalances → ownership; events → commits; all of them → groups.
"""
