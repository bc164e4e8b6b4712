"""The course of a group as its records tell it: generations and epochs, and who held what meanwhile.

`events` reads rows of the table of events, `stream` goes through one group's in the order of its log, for a task of
Spark. `classic` and `consumer` know the two protocols, `causes` says why a rebalance happened, `holders` knows the
partitions' holders.
"""

from __future__ import annotations
