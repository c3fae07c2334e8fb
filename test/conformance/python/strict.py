"""Answers as they are sent, validated strictly by the types of the newest official SDKs.

An SDK itself constructs its types without validation: what is missing shows only where somebody reads it.
"""

import json
import time
import typing

import httpx2
import ollama
import pydantic
from anthropic import types as messages
from anthropic.types.model_info import ModelInfo
from checks import check, equal, holds
from openai import types
from openai.types import audio, chat, responses
from openai.types.audio.speech_create_params import SpeechCreateParams
from openai.types.uploads import UploadPart
from product import BASE_URL, speech

ROOT = BASE_URL.removesuffix("/v1")
MODEL = "llama"
QUESTION = [{"role": "user", "content": "what does a switchyard do?"}]
TOOL = {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"], "additionalProperties": False}

http = httpx2.Client(base_url=ROOT, timeout=120)


def strict(kind, text):
    """@raises AssertionError with each field that is missing or of another type"""
    try:
        return pydantic.TypeAdapter(kind).validate_json(text, strict=True)
    except pydantic.ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
        raise AssertionError(f"{getattr(kind, '__name__', kind)}: {'; '.join(faults[:6])} in {text[:300]}") from None


def answer(method, path, **request):
    reply = http.request(method, path, **request)
    holds(reply.status_code < 300, f"{method} {path}: {reply.status_code} {reply.text}")
    return reply.text


def post(path, **body):
    return answer("POST", path, json=body)


def events(path, **body):
    """The data of each event of a stream, without the mark of its end."""
    lines = post(path, **body, stream=True).splitlines()
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    holds(len(data) > 1, f"{path} streams {len(data)} events")
    return [text for text in data if text != "[DONE]"]


def upload(path, form, name="speech.wav", content=speech):
    return answer("POST", path, data=form, files={"file": (name, content)})


def listed(kind, text):
    page = json.loads(text)
    equal(page["object"], "list")
    holds(page["data"], "an empty list")
    for item in page["data"]:
        strict(kind, json.dumps(item))


@check("strict, OpenAI: models, chat, completions, embeddings")
def _():
    listed(types.Model, answer("GET", "/v1/models"))
    strict(types.Model, answer("GET", "/v1/models/whisper-1"))
    for fields in ({}, {"logprobs": True, "top_logprobs": 2}, {"n": 2}):
        strict(chat.ChatCompletion, post("/v1/chat/completions", model=MODEL, messages=QUESTION, max_tokens=8, **fields))
    usage = {"stream_options": {"include_usage": True}, "max_tokens": 8}
    for event in events("/v1/chat/completions", model=MODEL, messages=QUESTION, **usage):
        strict(chat.ChatCompletionChunk, event)
    strict(types.Completion, post("/v1/completions", model=MODEL, prompt="a", max_tokens=4, logprobs=2))
    for event in events("/v1/completions", model=MODEL, prompt="a", max_tokens=4):
        # OpenAI sends null before the last event; the type, which is that of the whole answer, has no word for it.
        strict(types.Completion, event.replace('"finish_reason":null', '"finish_reason":"stop"'))
    strict(types.CreateEmbeddingResponse, post("/v1/embeddings", model="llama-mean", input=["a", "b"]))


@check("strict, OpenAI: a tool that the model must call, whole and as a stream")
def _():
    function = {"name": "switch", "parameters": TOOL, "strict": True}
    asked = {"model": MODEL, "messages": QUESTION, "max_tokens": 256, "tool_choice": "required"}
    asked["tools"] = [{"type": "function", "function": function}]
    whole = strict(chat.ChatCompletion, post("/v1/chat/completions", **asked))
    equal(whole.choices[0].message.tool_calls[0].function.name, "switch")
    for event in events("/v1/chat/completions", **asked):
        strict(chat.ChatCompletionChunk, event)


@check("strict, OpenAI: Responses, each event of a stream, stored ones and their input")
def _():
    asked = {"model": MODEL, "input": "hello", "max_output_tokens": 32}
    whole = strict(responses.Response, post("/v1/responses", **asked))
    strict(responses.Response, answer("GET", f"/v1/responses/{whole.id}"))
    listed(responses.ResponseItem, answer("GET", f"/v1/responses/{whole.id}/input_items"))
    tools = [{"type": "function", "name": "switch", "parameters": TOOL, "strict": True}]
    for fields in ({}, {"tools": tools, "tool_choice": "required"}):
        for event in events("/v1/responses", **asked, **fields):
            strict(responses.ResponseStreamEvent, event)
    counted = post("/v1/responses/input_tokens", model=MODEL, input="hello")
    strict(responses.InputTokenCountResponse, counted)


@check("strict, OpenAI: transcriptions in each form, with their streams")
def _():
    path = "/v1/audio/transcriptions"
    strict(audio.Transcription, upload(path, {"model": "synthetic"}))
    strict(audio.Transcription, upload(path, {"model": "synthetic", "include[]": "logprobs"}))
    words = ["word", "segment"]
    form = {"model": "synthetic", "response_format": "verbose_json", "timestamp_granularities[]": words}
    strict(audio.TranscriptionVerbose, upload(path, form))
    form = {"model": "gpt-4o-transcribe-diarize", "response_format": "diarized_json"}
    strict(audio.TranscriptionDiarized, upload(path, form))
    strict(audio.Translation, upload("/v1/audio/translations", {"model": "synthetic"}))
    form = {"model": "synthetic", "stream": "true"}
    data = [line.removeprefix("data: ") for line in upload(path, form).splitlines() if line.startswith("data: ")]
    holds(len(data) > 1, data)
    for event in data:
        if event != "[DONE]":
            strict(audio.TranscriptionStreamEvent, event)


@check("strict, OpenAI: files, uploads and batches")
def _():
    line = {"custom_id": "a", "method": "POST", "url": "/v1/embeddings", "body": {"model": "llama-mean", "input": "a"}}
    form = {"purpose": "batch"}
    text = upload("/v1/files", form, "lines.jsonl", json.dumps(line).encode())
    file = strict(types.FileObject, text)
    listed(types.FileObject, answer("GET", "/v1/files"))
    order = {"input_file_id": file.id, "endpoint": "/v1/embeddings", "completion_window": "24h"}
    made = strict(types.Batch, post("/v1/batches", **order))
    while strict(types.Batch, answer("GET", f"/v1/batches/{made.id}")).status != "completed":
        time.sleep(0.2)
    listed(types.Batch, answer("GET", "/v1/batches"))
    parts = {"filename": "a.jsonl", "purpose": "batch", "bytes": 4, "mime_type": "application/jsonl"}
    begun = strict(types.Upload, post("/v1/uploads", **parts))
    part = answer("POST", f"/v1/uploads/{begun.id}/parts", files={"data": ("a", b"{}\n\n")})
    part = strict(UploadPart, part)
    strict(types.Upload, post(f"/v1/uploads/{begun.id}/complete", part_ids=[part.id]))
    strict(types.FileDeleted, answer("DELETE", f"/v1/files/{file.id}"))


@check("strict, Anthropic: messages, each event of a stream, a tool, counts, models")
def _():
    asked = {"model": MODEL, "max_tokens": 32, "messages": QUESTION}
    tool = {"tools": [{"name": "switch", "input_schema": TOOL}], "tool_choice": {"type": "any"}}
    for fields in ({}, tool):
        strict(messages.Message, post("/v1/messages", **asked, **fields))
        for event in events("/v1/messages", **asked, **fields):
            if json.loads(event)["type"] != "ping":
                strict(messages.RawMessageStreamEvent, event)
    strict(messages.MessageTokensCount, post("/v1/messages/count_tokens", model=MODEL, messages=QUESTION))
    version = {"anthropic-version": "2023-06-01"}
    page = json.loads(answer("GET", "/v1/models", headers=version))
    holds({"first_id", "last_id", "has_more"} <= page.keys(), page.keys())
    for item in page["data"]:
        strict(ModelInfo, json.dumps(item))
    strict(ModelInfo, answer("GET", f"/v1/models/{MODEL}", headers=version))


@check("strict, Ollama: chat, generate, embed, tags, show and ps, with their streams")
def _():
    asked = {"model": MODEL, "options": {"num_predict": 8}}
    for path, kind, fields in (
        ("/api/chat", ollama.ChatResponse, {"messages": QUESTION}),
        ("/api/generate", ollama.GenerateResponse, {"prompt": "hello"}),
    ):
        strict(kind, post(path, **asked, **fields, stream=False))
        lines = post(path, **asked, **fields).splitlines()
        holds(len(lines) > 1, lines)
        for line in lines:
            strict(kind, line)
    strict(ollama.EmbedResponse, post("/api/embed", model="llama-mean", input=["a"]))
    strict(ollama.ListResponse, answer("GET", "/api/tags"))
    strict(ollama.ShowResponse, post("/api/show", model=MODEL))
    strict(ollama.ProcessResponse, answer("GET", "/api/ps"))


def literals(kind):
    """The words of each Literal in a type."""
    inner = typing.get_args(kind)
    return set(inner) if typing.get_origin(kind) is typing.Literal else set().union(*map(literals, inner))


@check("strict, OpenAI: each voice that its SDK names is spoken")
def _():
    voices = literals(typing.get_type_hints(SpeechCreateParams)["voice"])
    holds(len(voices) >= 13, voices)
    for voice in sorted(voices):
        post("/v1/audio/speech", model="gpt-4o-mini-tts", voice=voice, input="On time.", response_format="pcm")
