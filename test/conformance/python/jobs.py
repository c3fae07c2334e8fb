"""Files, uploads and batches."""

import base64
import hashlib
import json
import time

import openai

from checks import check, equal, holds, raises
from product import HEARD, SENTENCE, client, speech, spoken, transcribe


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
