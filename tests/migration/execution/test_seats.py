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


def test_the_id_of_a_process_that_was_killed_is_not_the_newer_one() -> None:
    """Its hook killed it, so that it is a member until its session expires; who starts again knows that id."""
    planned, killed, latest = (PlannedMember(id=id_, client_id="m1", host="/10.0.0.1") for id_ in "abc")
    seats = Seats([planned], {"a": latest}, {"b": "a"})
    assert dict(seats.update([latest, killed]).returned) == {}
    assert seats["a"].id == "c"
