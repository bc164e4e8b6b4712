"""`kohort serve` in the tests of somebody else's project: fixtures for pytest (docs/testing.md).

    plugin      what pytest loads: fixtures and their marker
    broker      KohortBroker: what a test works with
    faults      its `fault`
    child       the process that serves, and does what a test asks for

What pytest loads imports nothing of Kohort's but this package: docs/decisions/pytest-plugin-package.md.
"""

from kohort_testing.broker import GroupState, KohortBroker, KohortBrokerError, MemberState, NotInTime

__all__ = ["GroupState", "KohortBroker", "KohortBrokerError", "MemberState", "NotInTime"]
