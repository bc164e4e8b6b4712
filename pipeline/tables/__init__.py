"""The tables that a history is made of: their schemas, and how each is computed from the one before it.

events → rebalances → ownership; events → commits; all of them → groups.
"""
