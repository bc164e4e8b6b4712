"""The tables of a history: their schemas, and the computation of each from the tables before it.

events → rebalances → ownership; events → commits; all of them → groups.
"""
