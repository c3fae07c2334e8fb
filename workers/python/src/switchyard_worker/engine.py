"""What a model has to offer to become a worker. Attributes are read when `load` has returned."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, ClassVar

from switchyard.v1.common_pb2 import Execution
from switchyard.v1.generation_pb2 import GenerateRequest, GenerationDone
from switchyard.v1.stt_pb2 import TranscribeFileRequest, TranscribeFileResponse
from switchyard.v1.tts_pb2 import SynthesizeRequest

from .request import Request

#: Queues one piece of work of a request for the device; its result, and how it was computed.
Device = Callable[[Any], Awaitable[tuple[Any, Execution]]]


class Engine:
    kind: ClassVar[str]
    #: For people: name, device ("cpu", "cuda:0"), version of the model files.
    name: str = "python"
    device: str = "cpu"
    revision: str = ""
    #: Items of one engine call, engine calls at the same time, items prepared at the same time.
    max_batch: int = 8
    max_concurrent: int = 1
    prepare_threads: int = 4
    #: What an engine call takes, until calls are measured; 0: unknown.
    call_s: float = 0.0
    capabilities: Sequence[str] = ()
    #: BCP-47; empty: any.
    languages: Sequence[str] = ()

    def load(self) -> None:
        """Loads the model, on a thread. The worker is ready afterwards; if this raises, the process ends."""


class BatchEngine(Engine):
    """`transcribe` and `synthesize` run on a thread and return a result or an exception for each item, in order."""

    def prepare(self, item: Any) -> None:
        """CPU work on one item (decode, features), on a thread; `item.prepared` has room for the result."""

    def summary(self, _item: Any, _result: Any) -> str:
        """What the log says of an item that was computed."""
        return "done:"


def transcribed(language: str, duration_s: float) -> str:
    return f"transcribed: language={language.upper()} duration={duration_s:.2f}s"


class Transcriber(BatchEngine):
    kind = "stt"
    capabilities: Sequence[str] = ("transcribe",)

    def transcribe(self, batch: Sequence[Any]) -> Sequence[TranscribeFileResponse | BaseException]:
        """Items are requests, unless `handle` queues others. The library fills in `execution`."""
        raise NotImplementedError

    def summary(self, _item: Any, result: Any) -> str:
        return transcribed(getattr(result, "language", ""), getattr(result, "duration_s", 0.0))

    async def handle(self, request: Request[TranscribeFileRequest], device: Device) -> TranscribeFileResponse:
        """Override to give the device several items for one request, such as windows of a long file."""
        answer: TranscribeFileResponse
        answer, execution = await device(request)
        answer.execution.CopyFrom(execution)
        return answer


class Synthesizer(BatchEngine):
    kind = "tts"
    capabilities: Sequence[str] = ("speech", "speed")
    sample_rate: int = 24_000

    def synthesize(self, batch: Sequence[Request[SynthesizeRequest]]) -> Sequence[bytes | BaseException]:
        """s16le mono at `sample_rate`; the library encodes. `request.emit(pcm)` sends a part early."""
        raise NotImplementedError

    def summary(self, _item: Any, result: Any) -> str:
        return f"spoken: duration={len(result or b'') / 2 / self.sample_rate:.2f}s"


class Generator(Engine):
    kind = "llm"
    capabilities: Sequence[str] = ("chat", "completions")
    max_batch = 1

    def generate(self, request: Request[GenerateRequest]) -> AsyncIterator[bytes | GenerationDone]:
        """JSON objects in OpenAI's form, last a GenerationDone. A cancel raises CancelledError at its `await`."""
        raise NotImplementedError
