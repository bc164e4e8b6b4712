"""The course of a group as its records tell it: generations and epochs, and who held what meanwhile.

`events` reads rows of the table of events, `walk` goes through one group's in the order of its log, `stream` does it
for a task of Spark. `classic` and `consumer` know the two protocols, `holders` the partitions' holders.
"""

from __future__ import annotations
