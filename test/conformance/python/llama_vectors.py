"""Embeddings on llama.cpp, with two ways of pooling."""

import asyncio
import math

import openai

from checks import check, equal, holds, raises
from product import BASE_URL, client

WIDTH = 64
TEXTS = ["a switch", "a yard full of trains that wait for the one track that leads out", "x"]
embed = client.embeddings.create


def vectors(**fields):
    return [item.embedding for item in embed(**fields).data]


def likeness(one, other):
    return sum(a * b for a, b in zip(one, other))


@check("llama embeddings: floats, and base64 as the SDK asks by itself, are the same numbers")
def _():
    for model in ("llama-mean", "llama-last"):
        packed = embed(model=model, input=TEXTS)
        floats = embed(model=model, input=TEXTS, encoding_format="float")
        equal([item.index for item in packed.data], [0, 1, 2])
        for one, other in zip(packed.data, floats.data):
            equal((len(one.embedding), one.object), (WIDTH, "embedding"))
            holds(max(abs(a - b) for a, b in zip(one.embedding, other.embedding)) < 1e-6, "base64 differs from floats")
            holds(abs(math.hypot(*one.embedding) - 1) < 1e-4, "not of length 1")
        equal((packed.usage.prompt_tokens, packed.model), (floats.usage.total_tokens, model))


@check("llama embeddings: alone as in a list; one text, a list, tokens and lists of tokens")
def _():
    for model in ("llama-mean", "llama-last"):
        together = vectors(model=model, input=TEXTS)
        for text, vector in zip(TEXTS, together):
            holds(likeness(vectors(model=model, input=text)[0], vector) > 0.9999, f"{text} alone differs")
        holds(likeness(*together[:2]) < 0.999, "two texts, one vector")
        tokens = [1, 263, 264, 265]
        (text,), (one,), (other,) = (vectors(model=model, input=given) for given in ("ab", tokens, [tokens]))
        holds(likeness(text, one) > 0.9999 and likeness(text, other) > 0.9999, "tokens differ from their text")


@check("llama embeddings: dimensions cut and are of length 1 again")
def _():
    (whole,), (short,) = (vectors(model="llama-mean", input="ab", **cut) for cut in ({}, {"dimensions": 16}))
    equal(len(short), 16)
    scale = math.hypot(*whole[:16])
    holds(max(abs(a / scale - b) for a, b in zip(whole, short)) < 1e-5, "not its beginning")
    equal(len(vectors(model="llama-mean", input="ab", dimensions=WIDTH)[0]), WIDTH)


@check("llama embeddings: wrong inputs and dimensions are refused by name")
def _():
    def refusal(model="llama-mean", given="ab", **fields):
        error = raises(openai.BadRequestError, lambda: embed(model=model, input=given, **fields))
        return error.param, error.code

    for dimensions in (0, -1, WIDTH + 1, 99999, 1.5):
        equal(refusal(dimensions=dimensions), ("dimensions", "invalid_value"))
    equal(refusal("llama-last", dimensions=16), ("dimensions", "unsupported_parameter"))
    equal(refusal("llama"), ("model", "model_kind_mismatch"))
    for given in ([], [""], ["a", 1], [99999], ["a"] * 2049):
        equal(refusal(given=given), ("input", "invalid_value"))
    equal(refusal(given="")[0], "input")
    # Longer than one native run (`batchTokens`).
    for long in ("ab " * 300, "ab" * 100_000):
        equal(refusal(given=["a", long]), ("input[1]", "context_length_exceeded"))
        equal(refusal(given=long), ("input", "context_length_exceeded"))
    equal(refusal(encoding_format="int8"), ("encoding_format", "invalid_value"))


@check("llama embeddings: 32 callers at once get what each alone gets")
def _():
    async def all_at_once(texts):
        async with openai.AsyncOpenAI(base_url=BASE_URL, api_key="unused", max_retries=0) as eager:
            return await asyncio.gather(*(eager.embeddings.create(model="llama-mean", input=text) for text in texts))

    texts = [f"train {n} " * (n % 5 + 1) for n in range(32)]
    for text, answer in zip(texts, asyncio.run(all_at_once(texts))):
        holds(likeness(answer.data[0].embedding, vectors(model="llama-mean", input=text)[0]) > 0.9999, text)
