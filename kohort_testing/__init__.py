"""`kohort serve` in the tests of other projects: fixtures for pytest (docs/testing.md). The plugin imports no other
package of Kohort: docs/decisions/pytest-plugin-package.md."""

from kohort_testing.broker import GroupState, KohortBroker, KohortBrokerError, MemberState, NotInTime

__all__ = ["GroupState", "KohortBroker", "KohortBrokerError", "MemberState", "NotInTime"]
