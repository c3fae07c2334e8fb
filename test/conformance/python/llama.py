"""What the checks of llama.cpp share. Its models have random weights: a check that needs certain words forces them."""

import json
import time
import urllib.request

from product import BASE_URL, client

MODEL = "llama"
ROWS = 8
CONTEXT_TOKENS = 1024
MESSAGES = [{"role": "user", "content": "what does a switchyard do?"}]
chat = client.chat.completions.create


def asked(**fields):
    return {"model": MODEL, "messages": MESSAGES, **fields}


def written(grammar, **fields):
    """A request whose answer the grammar holds."""
    return asked(extra_body={"grammar": grammar}, **fields)


def endless(max_tokens=CONTEXT_TOKENS - 100, **fields):
    """Goes on until its limit, or until somebody stops it."""
    return written("root ::= [a-z ] root", max_tokens=max_tokens, **fields)


def said(answer):
    return answer.choices[0].message.content


def heard(chunks):
    """The texts of a stream, by choice."""
    texts = {}
    for choice in [choice for chunk in chunks for choice in chunk.choices]:
        texts[choice.index] = texts.get(choice.index, "") + (choice.delta.content or "")
    return [texts[index] for index in sorted(texts)]


def wait_until_idle(seconds=20):
    """Until every slot of every worker is free."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with urllib.request.urlopen(BASE_URL.removesuffix("/v1") + "/admin/v1/workers") as answer:
            workers = json.load(answer)["data"]
        if all(worker["slots"]["in_use"] == 0 for worker in workers):
            return
        time.sleep(0.02)
    raise AssertionError(f"slots are still taken after {seconds} s: {workers}")
