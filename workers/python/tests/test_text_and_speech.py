from __future__ import annotations

import array
import asyncio
import gc
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc
import pytest
from harness import Client, trailers, worker

from switchyard.v1 import common_pb2 as common
from switchyard.v1 import generation_pb2 as generation
from switchyard.v1 import tts_pb2 as tts
from switchyard_worker import Generator, Request, Synthesizer


class Words(Generator):
    max_concurrent = 2

    def __init__(self) -> None:
        self.cleaned = False

    async def generate(
        self, request: Request[generation.GenerateRequest]
    ) -> AsyncIterator[bytes | generation.GenerationDone]:
        try:
            yield b'{"n":1}'
            if request.message.max_tokens == 0:
                await asyncio.Event().wait()
            yield b'{"n":2}'
            yield generation.GenerationDone(finish_reasons=["stop"])
        finally:
            self.cleaned = True


class Tone(Synthesizer):
    sample_rate = 16_000

    def synthesize(self, batch: Sequence[Request[tts.SynthesizeRequest]]) -> list[bytes | BaseException]:
        for request in batch:
            request.emit(array.array("h", [1000] * 8000).tobytes())
        return [array.array("h", [2000] * 8000).tobytes() for _ in batch]


class Endless(Synthesizer):
    sample_rate = 16_000

    def synthesize(self, batch: Sequence[Request[tts.SynthesizeRequest]]) -> list[bytes | BaseException]:
        while not batch[0].cancelled:
            batch[0].emit(bytes(32_000))
            time.sleep(0.01)
        return [b"" for _ in batch]


def speech(client: Client, target: str) -> Any:
    message = tts.SynthesizeRequest(request_id="s", text="hello", voice="low", speed=1, format=target)
    return client.stream("Synthesize", message, tts.SynthesizeResponse)


def test_streams_chunks_and_then_the_end() -> None:
    async def body() -> None:
        async with worker(Words(), service="TextGeneration") as client:
            message = generation.GenerateRequest(request_id="g", body=b"{}", max_tokens=9)
            call = client.stream("Generate", message, generation.GenerateResponse)
            answers = [answer async for answer in call]
            assert [answer.chunk for answer in answers[:2]] == [b'{"n":1}', b'{"n":2}']
            assert answers[2].done.finish_reasons == ["stop"]
            assert (await client.health()).kind == "llm"

    asyncio.run(body())


def test_a_cancel_ends_a_generation_at_its_next_await() -> None:
    async def body() -> None:
        engine = Words()
        async with worker(engine, service="TextGeneration") as client:
            call = client.stream(
                "Generate", generation.GenerateRequest(request_id="g", body=b"{}"), generation.GenerateResponse
            )
            await call.read()
            cancel = common.CancelRequest(request_id="g", reason="client")
            assert (await client.call("Cancel", cancel, common.CancelResponse)).acknowledged
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call.read()
            assert trailers(caught.value)["switchyard-code"] == "request_cancelled"
            assert engine.cleaned

    asyncio.run(body())


@pytest.mark.parametrize("target, content_type", [("pcm", "audio/pcm"), ("wav", "audio/wav"), ("mp3", "audio/mpeg")])
def test_speaks_in_the_format_that_was_asked_for(target: str, content_type: str) -> None:
    async def body() -> None:
        async with worker(Tone(), service="TextToSpeech") as client:
            answers = [answer async for answer in speech(client, target)]
            assert (answers[0].header.content_type, answers[0].header.sample_rate) == (content_type, 24_000)
            assert answers[-1].done.duration_s == 1
            assert answers[-1].done.execution.batch_size == 1
            audio = b"".join(answer.audio for answer in answers)
            assert target != "pcm" or abs(len(audio) - 48_000) < 200

    asyncio.run(body())


def test_refuses_an_unknown_format() -> None:
    async def body() -> None:
        async with worker(Tone(), service="TextToSpeech") as client:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await speech(client, "midi").read()
            assert trailers(caught.value) == {"switchyard-code": "invalid_value", "switchyard-param": "response_format"}

    asyncio.run(body())


def test_a_hang_up_in_the_middle_of_speech_leaves_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    async def body() -> None:
        async with worker(Endless(), service="TextToSpeech") as client:
            call = speech(client, "wav")
            await call.read()
            call.cancel()
            # The next call takes the device after the one that was broken off.
            message = tts.SynthesizeRequest(request_id="next", text="hello", voice="low", speed=1, format="wav")
            following = client.stream("Synthesize", message, tts.SynthesizeResponse)
            await following.read()
            await following.read()
            following.cancel()
            while (await client.health()).in_flight:
                await asyncio.sleep(0.01)
            gc.collect()
            assert not [record.message for record in caplog.records if record.name == "asyncio"]

    asyncio.run(body())
