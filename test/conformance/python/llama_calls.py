"""What happens around an answer of llama.cpp: many callers, cancel, timeouts, errors, headers, batches."""

import asyncio
import threading

import openai

from checks import check, equal, holds, raises
from jobs import batch_of, lines_of
from llama import MESSAGES, MODEL, ROWS, asked, chat, endless, said, wait_until_idle, written
from product import BASE_URL, client, counting


@check("llama models: are listed, and told one by one")
def _():
    listed = {model.id: model for model in client.models.list()}
    holds({MODEL, "llama-mean", "llama-last"} <= set(listed), listed)
    equal(client.models.retrieve(MODEL), listed[MODEL])
    equal(raises(openai.NotFoundError, lambda: client.models.retrieve("llama-9")).code, "model_not_found")


@check("llama calls: 32 streams at once of an async client are what each alone is")
def _():
    lengths = [20 + 7 * (n % 9) for n in range(32)]

    async def one(eager, seed, length):
        text = ""
        async for chunk in await eager.chat.completions.create(**endless(length, seed=seed), stream=True):
            text += chunk.choices[0].delta.content or ""
        return text

    async def all_at_once():
        async with openai.AsyncOpenAI(base_url=BASE_URL, api_key="unused", max_retries=0) as eager:
            return await asyncio.gather(*(one(eager, seed, length) for seed, length in enumerate(lengths)))

    texts = asyncio.run(all_at_once())
    equal([len(text) for text in texts], lengths)
    equal(texts, [said(chat(**endless(length, seed=seed))) for seed, length in enumerate(lengths)])


@check("llama calls: a stream that is closed gives its row to the next")
def _():
    # All rows are taken.
    streams = [chat(**endless(), stream=True) for _ in range(ROWS)]
    for stream in streams:
        next(iter(stream))
        stream.close()
    equal(len(said(chat(**written("root ::= [a-z]{8}"), timeout=20))), 8)
    wait_until_idle()


@check("llama calls: leaving the helper of streams in the middle frees the row, too")
def _():
    with client.chat.completions.stream(**endless()) as stream:
        seen = 0
        for event in stream:
            seen += event.type == "content.delta"
            if seen == 5:
                break
    wait_until_idle()


@check("llama calls: the client's timeout is its error, is retried by it, and frees the row")
def _():
    hasty, sent = counting(max_retries=1, timeout=0.2)
    raises(openai.APITimeoutError, lambda: hasty.chat.completions.create(**endless(n=ROWS)))
    equal(len(sent), 2)
    wait_until_idle()


@check("llama calls: a cancel by id ends a whole answer as 499, and a stream with the error as its last event")
def _():
    def cancel_once_it_runs(request_id, told):
        while not told:
            try:
                if client.get(f"/requests/{request_id}", cast_to=object)["state"] == "running":
                    told.append(client.post(f"/requests/{request_id}/cancel", cast_to=object)["cancelled"])
            except openai.NotFoundError:
                continue

    eager, sent = counting(max_retries=3)
    for stream in (False, True):
        request_id, told = f"python-llama-{stream}", []
        thread = threading.Thread(target=cancel_once_it_runs, args=(request_id, told), daemon=True)
        thread.start()
        fields = {**endless(n=ROWS), "extra_headers": {"X-Request-Id": request_id}, "stream": stream}
        error = raises(openai.APIError, lambda: list(eager.chat.completions.create(**fields)))
        thread.join(20)
        equal((error.code, told), ("request_cancelled", [True]))
        if not stream:
            equal(error.status_code, 499)
    equal(len(sent), 2)
    wait_until_idle()


@check("llama errors: are the SDK's types, with param and code")
def _():
    def refusal(kind=openai.BadRequestError, **fields):
        error = raises(kind, lambda: chat(**{**asked(max_tokens=4), **fields}))
        holds(error.request_id and error.message, error)
        return error.param, error.code

    equal(refusal(openai.NotFoundError, model="llama-9"), ("model", "model_not_found"))
    equal(refusal(model="llama-mean"), ("model", "model_kind_mismatch"))
    equal(refusal(messages=[]), ("messages", "missing_required_parameter"))
    for fields in ({"temperature": 2.5}, {"top_p": -0.1}, {"presence_penalty": 3}, {"n": 0}, {"max_tokens": -1},
                   {"stop": ["a"] * 5}, {"logit_bias": {"264": 101}}, {"logit_bias": {"a": 1}},
                   {"top_logprobs": 2}, {"logprobs": True, "top_logprobs": 21}):  # fmt: skip
        equal(refusal(**fields), (list(fields)[-1], "invalid_value"))
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    content = [{"type": "text", "text": "see:"}, image]
    equal(refusal(messages=[{"role": "user", "content": content}]), ("messages[0].content[1].type", "invalid_value"))
    equal(refusal(messages=[{"role": "robot", "content": "x"}]), ("messages[0].role", "invalid_value"))
    equal(refusal(modalities=["text", "audio"], audio={"voice": "alloy", "format": "wav"})[0], "modalities")
    texts = [{"messages": [{"role": "user", "content": text}]} for text in ("ab " * 2000, "ab " * 200_000)]
    for fields in (*texts, {"max_tokens": 1024}):
        equal(refusal(**fields), ("messages", "context_length_exceeded"))
        equal(refusal(**fields, stream=True), ("messages", "context_length_exceeded"))


@check("llama raw response: has the request id, where the time went, and the tokens")
def _():
    fields = {**written("root ::= [a-z]{8}", seed=1), "extra_headers": {"X-Request-Id": "python-llama-raw"}}
    raw = client.chat.completions.with_raw_response.create(**fields)
    equal((raw.request_id, raw.parse().id), ("python-llama-raw", "chatcmpl-python-llama-raw"))
    equal(raw.headers["x-switchyard-completion-tokens"], str(raw.parse().usage.completion_tokens))
    spans = ("queue", "ttft", "device", "total")
    holds(all(f"{span};dur=" in raw.headers["server-timing"] for span in spans), raw.headers["server-timing"])
    holds(0 < float(raw.headers["x-switchyard-ttft-ms"]) <= float(raw.headers["openai-processing-ms"]) + 1, raw.headers)
    with client.chat.completions.with_streaming_response.create(**fields, stream=True) as response:
        holds("ttft;dur=" in response.headers["server-timing"], response.headers)
        lines = [line for line in response.iter_lines() if line]
    equal(lines[-1], "data: [DONE]")


@check("llama batches: lines are answered as calls are")
def _():
    bodies = [{"model": MODEL, "messages": MESSAGES, "seed": seed, "max_tokens": 12} for seed in range(3)]
    batch = batch_of(*bodies, {**bodies[0], "n": 0}, endpoint="/v1/chat/completions")
    counts = batch.request_counts
    equal((batch.status, counts.completed, counts.failed), ("completed", 3, 1))
    answers = {line["custom_id"]: line["response"]["body"] for line in lines_of(batch.output_file_id)}
    texts = [answers[f"line-{index}"]["choices"][0]["message"]["content"] for index in range(3)]
    equal(texts, [said(chat(**body)) for body in bodies])
    (failed,) = lines_of(batch.error_file_id)
    equal((failed["custom_id"], failed["response"]["body"]["error"]["param"]), ("line-3", "n"))
