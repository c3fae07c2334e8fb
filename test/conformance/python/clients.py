"""What every route has in common: models, errors, timeouts, cancel, headers."""

import asyncio

import httpx2
import openai

from checks import check, equal, holds, raises
from product import BASE_URL, client, counting, spoken, transcribe


@check("models: list, retrieve by id and by alias")
def _():
    ids = [model.id for model in client.models.list()]
    holds({"recogniser", "whisper-1", "tts-1"} <= set(ids), ids)
    equal(client.models.retrieve("whisper-1").object, "model")


@check("errors: are typed, with param, code and request id")
def _():
    error = raises(openai.NotFoundError, lambda: transcribe(file=spoken(), model="whisper-9"))
    equal((error.code, error.param, error.type), ("model_not_found", "model", "invalid_request_error"))
    holds(error.request_id.startswith("req_"), error.request_id)
    bad = raises(openai.BadRequestError, lambda: transcribe(file=("a.wav", b"no audio at all" * 9), model="whisper-1"))
    equal((bad.code, bad.param), ("invalid_audio", "file"))
    able = raises(
        openai.BadRequestError,
        lambda: transcribe(file=spoken(), model="whisper-1", response_format="diarized_json"),
    )
    equal(able.code, "unsupported_parameter")
    holds("synthetic" in able.message, able.message)
    raises(openai.NotFoundError, lambda: client.models.retrieve("nothing"))


@check("errors: a permanent one is sent once, whatever max_retries is")
def _():
    eager, sent = counting(max_retries=4)
    raises(openai.BadRequestError, lambda: eager.audio.transcriptions.create(file=("a.wav", b""), model="whisper-1"))
    equal(len(sent), 1)


@check("timeouts: are the client's error, retried by it, and free the slot")
def _():
    hasty, sent = counting(max_retries=1, timeout=0.5)
    raises(openai.APITimeoutError, lambda: hasty.audio.transcriptions.create(file=spoken(), model="slow"))
    equal(len(sent), 2)
    holds(transcribe(file=spoken(), model="slow", timeout=20).text, "nobody answers any more")


@check("cancel: by the id in X-Request-Id, as 499 and not retried")
def _():
    async def both():
        eager = openai.AsyncOpenAI(base_url=BASE_URL, api_key="unused", max_retries=3)
        headers = {"X-Request-Id": "python-cancel"}
        running = asyncio.create_task(
            eager.audio.transcriptions.create(file=spoken(), model="slow", extra_headers=headers)
        )
        cancelled = False
        while not cancelled:
            await asyncio.sleep(0.05)
            try:
                answer = await eager.post("/requests/python-cancel/cancel", cast_to=httpx2.Response)
                cancelled = answer.json()["cancelled"]
            except openai.NotFoundError:
                pass
        try:
            await running
        except openai.APIStatusError as error:
            return error
        raise AssertionError("answered all the same")

    error = asyncio.run(both())
    equal((error.status_code, error.code), (499, "request_cancelled"))


@check("raw response: has x-request-id and Server-Timing")
def _():
    raw = client.audio.transcriptions.with_raw_response.create(
        file=spoken(), model="whisper-1", extra_headers={"X-Request-Id": "python-1"}
    )
    equal(raw.request_id, "python-1")
    holds("device;dur=" in raw.headers["server-timing"], raw.headers)
