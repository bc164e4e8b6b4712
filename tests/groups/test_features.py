"""C27: what levels of features mean, and which brokers lack them."""

from groups.features import MEANINGS, Supported, features_of, level_name, lost_type, meaning
from groups.listing import GroupType


def test_a_level_is_supported_if_all_brokers_support_it() -> None:
    new, old = (
        {"group.version": Supported(0, 1), "share.version": Supported(1, 2)},
        {"group.version": Supported(0, 0)},
    )
    group, share = features_of({"group.version": 1}, {"1": new, "2": old, "3": new})
    assert (group.name, group.finalized, group.supported) == ("group.version", 1, (0, 0))
    assert group.lacking(1) == {"2": (0, 0)}
    # A broker that does not know a feature has it off, which the others do not support.
    assert (share.finalized, share.supported, set(share.lacking(0))) == (0, None, {"1", "3"})
    (offline,) = features_of({"group.version": 1}, {})
    assert (offline.supported, offline.lacking(1)) == (None, {})


def test_only_turning_a_feature_off_takes_groups_away() -> None:
    assert lost_type("group.version", 1, 0) is GroupType.CONSUMER
    assert lost_type("share.version", 2, 0) is GroupType.SHARE
    for unchanged in (("share.version", 2, 1), ("group.version", 0, 1), ("group.version", 0, 0)):
        assert lost_type(*unchanged) is None
    assert lost_type("metadata.version", 30, 0) is None


def test_unknown_levels_have_no_meaning() -> None:
    assert (meaning("group.version", len(MEANINGS["group.version"])), meaning("new.version", 1)) == (
        None,
        None,
    )
    assert (level_name("metadata.version", 30), level_name("metadata.version", 99)) == (
        "4.3-IV0",
        "UNKNOWN 99",
    )
    assert meaning("metadata.version", 99) is None
