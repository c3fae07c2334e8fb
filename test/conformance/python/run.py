"""The official Python SDK, unchanged, against a running Switchyard. Usage: run.py BASE_URL"""

import asyncio
import base64
import hashlib
import io
import json
import sys
import time
import wave

import httpx2
import openai

from checks import check, equal, holds, raises, run_all

BASE_URL = sys.argv[1]
SENTENCE = "He opened the window because the room was too hot."
HEARD = "he opened the window because the room was too hot"

client = openai.OpenAI(base_url=BASE_URL, api_key="unused", max_retries=0)
transcribe = client.audio.transcriptions.create
speech = client.audio.speech.create(model="tts-1", voice="alloy", input=SENTENCE, response_format="wav").content


def spoken(name="speech.wav"):
    return (name, speech)


def counting(**options):
    """A client, and the requests it has sent."""
    sent = []
    http = httpx2.Client(event_hooks={"request": [sent.append]})
    return openai.OpenAI(base_url=BASE_URL, api_key="unused", http_client=http, **options), sent


def tone(seconds):
    """A data URL of so many seconds of audio."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16000)
        out.writeframes(b"\x00\x10\x00\xf0" * (8000 * seconds))
    return "data:audio/wav;base64," + base64.b64encode(file.getvalue()).decode()


@check("transcription: json has text and usage")
def _():
    answer = transcribe(file=spoken(), model="whisper-1")
    equal(answer.text, HEARD)
    equal(answer.usage.type, "duration")


@check("transcription: text is the text and a newline")
def _():
    equal(transcribe(file=spoken(), model="whisper-1", response_format="text"), HEARD + "\n")


@check("transcription: srt and vtt are subtitles")
def _():
    srt = transcribe(file=spoken(), model="whisper-1", response_format="srt")
    holds(srt.startswith("1\n00:00:0") and " --> " in srt and HEARD in srt, srt)
    vtt = transcribe(file=spoken(), model="whisper-1", response_format="vtt")
    holds(vtt.startswith("WEBVTT\n\n00:00:0") and HEARD in vtt, vtt)


@check("transcription: verbose_json has segments, and words when asked for")
def _():
    plain = transcribe(file=spoken(), model="whisper-1", response_format="verbose_json")
    equal((plain.text, plain.language, plain.words), (HEARD, "english", None))
    holds(plain.segments[0].end > plain.segments[0].start, plain.segments)
    both = transcribe(
        file=spoken(), model="whisper-1", response_format="verbose_json", timestamp_granularities=["word", "segment"]
    )
    equal(" ".join(word.word for word in both.words), HEARD)
    holds(both.segments and 2 < both.duration < 5, both.duration)
    words = transcribe(
        file=spoken(), model="whisper-1", response_format="verbose_json", timestamp_granularities=["word"]
    )
    equal(words.segments, None)


@check("transcription: stream is deltas that are the text, then one done")
def _():
    events = list(transcribe(file=spoken(), model="gpt-4o-transcribe", stream=True))
    equal({event.type for event in events[:-1]}, {"transcript.text.delta"})
    equal(events[-1].type, "transcript.text.done")
    equal("".join(event.delta for event in events[:-1]), HEARD)
    equal(events[-1].text, HEARD)


@check("transcription: logprobs are tokens that spell the text")
def _():
    answer = transcribe(file=spoken(), model="synthetic", include=["logprobs"])
    equal("".join(item.token for item in answer.logprobs), answer.text)
    equal(bytes(b for item in answer.logprobs for b in map(int, item.bytes)).decode(), answer.text)
    events = list(transcribe(file=spoken(), model="synthetic", include=["logprobs"], stream=True))
    holds(all(event.logprobs for event in events), events)


@check("transcription: diarized_json names speakers, known ones by name")
def _():
    answer = transcribe(
        file=spoken(),
        model="gpt-4o-transcribe-diarize",
        response_format="diarized_json",
        chunking_strategy="auto",
        known_speaker_names=["agent"],
        known_speaker_references=[tone(3)],
    )
    equal(answer.task, "transcribe")
    equal([item.speaker for item in answer.segments][:2], ["agent", "A"])
    equal(answer.segments[0].type, "transcript.text.segment")
    equal(type(answer.segments[0].id), str)


@check("transcription: diarized_json as a stream has its segments")
def _():
    events = list(
        transcribe(file=spoken(), model="gpt-4o-transcribe-diarize", response_format="diarized_json", stream=True)
    )
    segments = [event for event in events if event.type == "transcript.text.segment"]
    deltas = [event for event in events if event.type == "transcript.text.delta"]
    equal([event.segment_id for event in deltas], [event.id for event in segments])
    equal([segment.speaker for segment in segments][:2], ["A", "B"])
    equal(events[-1].type, "transcript.text.done")


@check("transcription: prompt, temperature, language, keywords and a chunking strategy")
def _():
    vad = {"type": "server_vad", "threshold": 0.4, "silence_duration_ms": 300}
    answer = transcribe(
        file=spoken(), model="synthetic", prompt="p", temperature=0.2, language="en",
        keywords=["Switchyard"], chunking_strategy=vad,
    )  # fmt: skip
    holds(answer.text != transcribe(file=spoken(), model="synthetic").text, "the fields changed nothing")


@check("transcription: unknown fields and headers are accepted")
def _():
    answer = transcribe(
        file=spoken(), model="whisper-1", extra_body={"newer": {"a": 1}}, extra_headers={"OpenAI-Organization": "org"}
    )
    equal(answer.text, HEARD)


@check("translation: json, text and verbose_json")
def _():
    translate = client.audio.translations.create
    equal(translate(file=spoken(), model="whisper-1").text, HEARD)
    equal(translate(file=spoken(), model="whisper-1", response_format="text"), HEARD + "\n")
    verbose = translate(file=spoken(), model="whisper-1", response_format="verbose_json")
    equal((verbose.text, verbose.language), (HEARD, "english"))


@check("speech: every format begins as it should and is heard again")
def _():
    starts = {"mp3": (b"ID3", b"\xff\xf3", b"\xff\xfb"), "opus": (b"OggS",), "aac": (b"\xff\xf1",), "flac": (b"fLaC",),
              "wav": (b"RIFF",)}  # fmt: skip
    for name, begins in starts.items():
        audio = client.audio.speech.create(model="tts-1", voice="nova", input=SENTENCE, response_format=name).content
        holds(audio.startswith(begins), f"{name} begins with {audio[:4]!r}")
        holds("window" in transcribe(file=(f"a.{name}", audio), model="whisper-1").text, f"{name} is not understood")


@check("speech: streams bytes, to a file and as pcm of 24 kHz")
def _():
    with client.audio.speech.with_streaming_response.create(
        model="tts-1", voice="alloy", input=SENTENCE, response_format="pcm"
    ) as response:
        size = sum(len(chunk) for chunk in response.iter_bytes(4096))
    holds(2 < size / 48000 < 5, f"{size} bytes")


@check("speech: stream_format=sse is deltas of base64, then done")
def _():
    lines = []
    with client.audio.speech.with_streaming_response.create(
        model="tts-1", voice="alloy", input="Hello.", stream_format="sse"
    ) as response:
        lines = [line for line in response.iter_lines() if line.startswith("data: ")]
    holds('"speech.audio.delta"' in lines[0] and any('"speech.audio.done"' in line for line in lines), lines[-2:])


@check("models: list, retrieve by id and by alias")
def _():
    ids = [model.id for model in client.models.list()]
    holds({"pocketsphinx-en", "whisper-1", "tts-1"} <= set(ids), ids)
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


if __name__ == "__main__":
    print(f"openai {openai.__version__}, Python {sys.version.split()[0]}", flush=True)
    


def lines_of(file_id):
    return [json.loads(line) for line in client.files.content(file_id).text.splitlines()]


def batch_of(*bodies, endpoint, **options):
    """A batch of these bodies, created and awaited."""
    lines = [
        json.dumps({"custom_id": f"line-{index}", "method": "POST", "url": endpoint, "body": body})
        for index, body in enumerate(bodies)
    ]
    sent = client.files.create(file=("lines.jsonl", "\n".join(lines).encode()), purpose="batch")
    batch = client.batches.create(input_file_id=sent.id, endpoint=endpoint, completion_window="24h", **options)
    equal((batch.object, batch.input_file_id, batch.expires_at - batch.created_at), ("batch", sent.id, 86400))
    while batch.status in ("validating", "in_progress", "finalizing", "cancelling"):
        time.sleep(0.1)
        batch = client.batches.retrieve(batch.id)
    return batch


@check("files: upload, retrieve, list by pages, content, delete")
def _():
    sent = [client.files.create(file=(f"{n}.txt", f"text {n}".encode()), purpose="user_data") for n in range(3)]
    equal(client.files.retrieve(sent[0].id), sent[0])
    equal([file.id for file in client.files.list(purpose="user_data", limit=2)], [file.id for file in sent[::-1]])
    equal(client.files.content(sent[1].id).text, "text 1")
    for file in sent:
        equal(client.files.delete(file.id).deleted, True)
    equal(raises(openai.NotFoundError, lambda: client.files.retrieve(sent[0].id)).code, "file_not_found")


@check("uploads: a file in parts, checked by its md5")
def _():
    data = b"part one, part two"
    upload = client.uploads.create(bytes=len(data), filename="a.txt", mime_type="text/plain", purpose="user_data")
    parts = [client.uploads.parts.create(upload.id, data=chunk).id for chunk in (data[:9], data[9:])]
    done = client.uploads.complete(upload.id, part_ids=parts, md5=hashlib.md5(data).hexdigest())
    equal((done.status, client.files.content(done.file.id).content), ("completed", data))


@check("batches: recordings by file id are heard, and one that is not there fails alone")
def _():
    audio = client.files.create(file=spoken(), purpose="user_data")
    bodies = [{"model": "whisper-1", "file_id": file_id} for file_id in (audio.id, "file-nobody")]
    batch = batch_of(*bodies, endpoint="/v1/audio/transcriptions", metadata={"night": "first"})
    equal((batch.status, batch.metadata), ("completed", {"night": "first"}))
    counts = batch.request_counts
    equal((counts.total, counts.completed, counts.failed), (2, 1, 1))
    equal([line["response"]["body"]["text"] for line in lines_of(batch.output_file_id)], [HEARD])
    equal([line["custom_id"] for line in lines_of(batch.error_file_id)], ["line-1"])


@check("batches: speech becomes files")
def _():
    body = {"model": "tts-1", "voice": "alloy", "input": SENTENCE, "response_format": "wav"}
    (line,) = lines_of(batch_of(body, endpoint="/v1/audio/speech").output_file_id)
    audio = client.files.content(line["response"]["body"]["file_id"]).content
    equal(transcribe(file=("speech.wav", audio), model="whisper-1").text, HEARD)


@check("batches: a bad file says which lines")
def _():
    sent = client.files.create(file=("lines.jsonl", b'{"custom_id":"a"}\nnonsense\n'), purpose="batch")
    batch = client.batches.create(input_file_id=sent.id, endpoint="/v1/embeddings", completion_window="24h")
    while batch.status not in ("failed", "completed"):
        time.sleep(0.1)
        batch = client.batches.retrieve(batch.id)
    equal((batch.status, [error.line for error in batch.errors.data]), ("failed", [1, 2]))


@check("batches: a cancel keeps what is done, and every other line says so")
def _():
    body = {"model": "slow", "audio": base64.b64encode(speech).decode()}
    lines = [
        json.dumps({"custom_id": f"line-{n}", "method": "POST", "url": "/v1/audio/transcriptions", "body": body})
        for n in range(100)
    ]
    sent = client.files.create(file=("lines.jsonl", "\n".join(lines).encode()), purpose="batch")
    endpoint = "/v1/audio/transcriptions"
    batch = client.batches.create(input_file_id=sent.id, endpoint=endpoint, completion_window="24h")
    while batch.request_counts.completed == 0:
        time.sleep(0.1)
        batch = client.batches.retrieve(batch.id)
    equal(raises(openai.BadRequestError, lambda: client.files.delete(sent.id)).code, "file_in_use")
    equal(client.batches.cancel(batch.id).status, "cancelling")
    while batch.status != "cancelled":
        time.sleep(0.1)
        batch = client.batches.retrieve(batch.id)
    done, rest = lines_of(batch.output_file_id), lines_of(batch.error_file_id)
    equal((len(done), len(rest)), (batch.request_counts.completed, batch.request_counts.failed))
    equal(len(done) + len(rest), 100)
    equal({line["error"]["code"] for line in rest}, {"batch_cancelled"})
    client.files.delete(sent.id)


@check("batches: pages by id, and a cancel of what has ended is refused")
def _():
    ids = [batch.id for batch in client.batches.list(limit=1)]
    holds(len(ids) == len(set(ids)) >= 3, ids)
    equal(raises(openai.BadRequestError, lambda: client.batches.cancel(ids[0])).code, "batch_not_cancellable")


MESSAGES = [{"role": "user", "content": "all lines are clear"}]
ANSWER = "all lines are clear all lines"


@check("chat: an answer with usage and the tier that was used")
def _():
    answer = client.chat.completions.create(model="gpt-4o-mini", messages=MESSAGES, service_tier="priority")
    equal(answer.choices[0].message.content, ANSWER)
    equal((answer.choices[0].finish_reason, answer.usage.completion_tokens), ("stop", 6))
    equal((answer.model, answer.service_tier), ("synthetic-llm", "priority"))


@check("chat: a stream of deltas, with usage in the last chunk")
def _():
    options = {"stream": True, "stream_options": {"include_usage": True}, "n": 2}
    chunks = list(client.chat.completions.create(model="gpt-4o-mini", messages=MESSAGES, **options))
    texts = ["", ""]
    for choice in [choice for chunk in chunks for choice in chunk.choices]:
        texts[choice.index] += choice.delta.content or ""
    equal(texts[0], ANSWER)
    equal((chunks[-1].choices, chunks[-1].usage.completion_tokens), ([], 12))


@check("chat: the helper of streams collects the answer")
def _():
    with client.chat.completions.stream(model="gpt-4o-mini", messages=MESSAGES) as stream:
        equal(stream.get_final_completion().choices[0].message.content, ANSWER)


@check("chat: a wrong field is a 400 that names it, and is not sent again")
def _():
    wrong = lambda: client.chat.completions.create(model="gpt-4o-mini", messages=MESSAGES, temperature=9)
    equal(raises(openai.BadRequestError, wrong).param, "temperature")


@check("completions: whole and streamed")
def _():
    asked = {"model": "gpt-3.5-turbo-instruct", "prompt": "all lines are clear", "max_tokens": 3}
    equal(client.completions.create(**asked).choices[0].text, "all lines are")
    streamed = client.completions.create(**asked, stream=True)
    equal("".join(chunk.choices[0].text for chunk in streamed if chunk.choices), "all lines are")


@check("embeddings: floats, and base64 as the SDK asks by itself")
def _():
    asked = {"model": "text-embedding-3-small", "input": ["one", "two"], "dimensions": 16}
    packed = client.embeddings.create(**asked)
    floats = client.embeddings.create(**asked, encoding_format="float")
    equal([len(one.embedding) for one in packed.data], [16, 16])
    for one, other in zip(packed.data, floats.data):
        holds(all(abs(a - b) < 1e-6 for a, b in zip(one.embedding, other.embedding)), "base64 differs from floats")


run_all()
