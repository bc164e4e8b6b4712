"""Members that are followed through restarts and outages."""

from migration.execution.seats import Seats
from migration.model import PlannedMember


def test_of_two_ids_of_a_member_the_one_that_stays_is_its_own() -> None:
    """An outage gave it new ids twice; who starts again knows the last one, and meets both."""
    planned, lingering, latest = (PlannedMember(id=id_, client_id="m1", host="/10.0.0.1") for id_ in "abc")
    seats = Seats([planned], {"a": latest})
    seats.update([lingering, latest])
    changes = seats.update([latest])
    assert seats["a"].id == "c"
    assert (changes.absent, changes.unexpected, changes.doubled) == ((), (), frozenset())
