"""`java.util.PriorityQueue`: a binary heap. Its layout matters where Java changes the weight of a queued element,
and where elements are equal: then it no longer returns the least one, but still always the same one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from _typeshed import SupportsDunderLT

T = TypeVar("T")


class PriorityQueue(Generic[T]):
    """Elements in the heap's array, compared by `key`, which is computed for each comparison."""

    def __init__(self, key: Callable[[T], SupportsDunderLT[Any]], elements: Iterable[T] = ()) -> None:
        self.key = key
        self._heap = list(elements)
        for index in reversed(range(len(self._heap) // 2)):
            self._sift_down(index, self._heap[index])

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[T]:
        """The elements in the order of the array."""
        return iter(self._heap)

    def offer(self, element: T) -> None:
        self._heap.append(element)
        self._sift_up(len(self._heap) - 1, element)

    def poll(self) -> T | None:
        if not self._heap:
            return None
        first, last = self._heap[0], self._heap.pop()
        if self._heap:
            self._sift_down(0, last)
        return first

    def remove(self, element: T) -> None:
        """Remove an element. Raises ValueError: it is not in the queue."""
        index = self._heap.index(element)
        last = self._heap.pop()
        if index == len(self._heap):
            return
        self._sift_down(index, last)
        if self._heap[index] is last:
            self._sift_up(index, last)

    def _sift_up(self, index: int, element: T) -> None:
        key = self.key(element)
        while index > 0:
            parent = (index - 1) // 2
            if not key < self.key(self._heap[parent]):
                break
            self._heap[index] = self._heap[parent]
            index = parent
        self._heap[index] = element

    def _sift_down(self, index: int, element: T) -> None:
        key, size, heap, key_of = self.key(element), len(self._heap), self._heap, self.key
        while (child := 2 * index + 1) < size:
            child_key = key_of(heap[child])
            if child + 1 < size and (right_key := key_of(heap[child + 1])) < child_key:
                child, child_key = child + 1, right_key
            if not child_key < key:
                break
            heap[index] = heap[child]
            index = child
        heap[index] = element
