"""The course of a group in its records: generations and epochs, and the owners of partitions.

`events` parses rows of the table of events, `stream` processes one group's in the order of its log, in a task of
Spark. `classic` and `consumer` implement the two protocols, `causes` finds why a rebalance happened, `holders` tracks
the partitions' owners.
"""

from __future__ import annotations
