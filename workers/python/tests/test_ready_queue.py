from __future__ import annotations

from switchyard.v1 import common_pb2 as common
from switchyard.v1 import stt_pb2 as stt
from switchyard_worker.ready_queue import MOST_OVERTAKING, Item, ReadyQueue
from switchyard_worker.request import Request


def request(name: str, batch: bool = False) -> Request[stt.TranscribeFileRequest]:
    priority = common.PRIORITY_BATCH if batch else common.PRIORITY_REALTIME
    return Request(stt.TranscribeFileRequest(request_id=name, priority=priority))


def enter(queue: ReadyQueue, call: Request[stt.TranscribeFileRequest]) -> None:
    item = Item(call, None)
    queue.arrive(item)
    queue.prepared(item, ready=True)


def order(queue: ReadyQueue, count: int = 100) -> list[str]:
    return [item.request.id for item in queue.take(count)]


def test_realtime_goes_first_then_arrival() -> None:
    queue = ReadyQueue()
    for name, batch in [("b1", True), ("r1", False), ("b2", True), ("r2", False)]:
        enter(queue, request(name, batch))
    assert order(queue) == ["r1", "r2", "b1", "b2"]


def test_order_is_arrival_not_the_end_of_preparation() -> None:
    queue = ReadyQueue()
    slow, fast = Item(request("slow"), None), Item(request("fast"), None)
    queue.arrive(slow)
    queue.arrive(fast)
    queue.prepared(fast, ready=True)
    queue.prepared(slow, ready=True)
    assert order(queue) == ["slow", "fast"]


def test_a_batch_item_is_overtaken_by_64_at_most() -> None:
    queue = ReadyQueue()
    enter(queue, request("batch", batch=True))
    for at in range(MOST_OVERTAKING - 1):
        enter(queue, request(f"r{at}"))
    assert queue.in_order()[-1].request.id == "batch"
    enter(queue, request("last"))
    assert queue.in_order()[0].request.id == "batch"


def test_windows_of_a_long_file_take_turns_with_others() -> None:
    queue = ReadyQueue()
    long = request("long")
    for _ in range(3):
        enter(queue, long)
    enter(queue, request("short"))
    assert order(queue) == ["long", "short", "long", "long"]
