"""A case study of KIP-848, with the numbers of the document: a lost answer."""

import pytest

from tests.coordinator.engine.consumer import Consumer, group_of, images, seed
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode


@pytest.mark.parametrize("lost", [True, False])
def test_a_lost_answer_is_forgiven(lost: bool) -> None:
    driver = Driver(images(("foo", 3)))
    seed(driver, 2, {"A": {"foo": [0, 1, 2]}})
    a = Consumer(driver, "A", epoch=2, owned={"foo": [0, 1, 2]})
    driver.take(driver.engine.update_topics(images(("foo", 4), version=2), driver.now_ms))
    assert a.beat().epoch == 3
    assert group_of(driver).members["A"].current.previous_epoch == 2
    if lost:
        answer = a.beat(epoch=2)
        assert (answer.error, answer.epoch) == (ErrorCode.NONE, 3)
    else:
        unowned = {driver.engine.topics.topics["foo"].id: (0, 9)}
        assert a.refused(epoch=2, owned=unowned)[0] is ErrorCode.FENCED_MEMBER_EPOCH
        assert a.refused(epoch=2, owned=None)[0] is ErrorCode.FENCED_MEMBER_EPOCH
