"""`kohort serve` in the tests of other projects: fixtures for pytest (docs/testing.md).

    plugin      the pytest plugin: fixtures and their marker
    broker      KohortBroker, the API for tests
    faults      the faults of `KohortBroker.fault`
    child       the server process, which also executes the tests' requests

The plugin imports no other package of Kohort: docs/decisions/pytest-plugin-package.md.
"""

from kohort_testing.broker import GroupState, KohortBroker, KohortBrokerError, MemberState, NotInTime

__all__ = ["GroupState", "KohortBroker", "KohortBrokerError", "MemberState", "NotInTime"]
