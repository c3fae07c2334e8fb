from __future__ import annotations

from switchyard.v1 import common_pb2 as common
from switchyard.v1 import stt_pb2 as stt
from switchyard_worker.ready_queue import MOST_OVERTAKING, Place, ReadyQueue
from switchyard_worker.request import Request


def request(name: str, batch: bool = False) -> Request[stt.TranscribeFileRequest]:
    priority = common.PRIORITY_BATCH if batch else common.PRIORITY_REALTIME
    return Request(stt.TranscribeFileRequest(request_id=name, priority=priority))


def enter(queue: ReadyQueue[Place], call: Request[stt.TranscribeFileRequest]) -> None:
    place = Place(call)
    queue.arrive(place)
    queue.prepared(place, ready=True)


def order(queue: ReadyQueue[Place], count: int = 100) -> list[str]:
    return [place.request.id for place in queue.take(count)]


def test_realtime_goes_first_then_arrival() -> None:
    queue: ReadyQueue[Place] = ReadyQueue()
    for name, batch in [("b1", True), ("r1", False), ("b2", True), ("r2", False)]:
        enter(queue, request(name, batch))
    assert order(queue) == ["r1", "r2", "b1", "b2"]


def test_order_is_arrival_not_the_end_of_preparation() -> None:
    queue: ReadyQueue[Place] = ReadyQueue()
    slow, fast = Place(request("slow")), Place(request("fast"))
    queue.arrive(slow)
    queue.arrive(fast)
    queue.prepared(fast, ready=True)
    queue.prepared(slow, ready=True)
    assert order(queue) == ["slow", "fast"]


def test_a_batch_item_is_overtaken_by_64_at_most() -> None:
    queue: ReadyQueue[Place] = ReadyQueue()
    enter(queue, request("batch", batch=True))
    for at in range(MOST_OVERTAKING - 1):
        enter(queue, request(f"r{at}"))
    assert queue.in_order()[-1].request.id == "batch"
    enter(queue, request("last"))
    assert queue.in_order()[0].request.id == "batch"


def test_windows_of_a_long_file_take_turns_with_others() -> None:
    queue: ReadyQueue[Place] = ReadyQueue()
    long = request("long")
    for _ in range(3):
        enter(queue, long)
    enter(queue, request("short"))
    assert order(queue) == ["long", "short", "long", "long"]
