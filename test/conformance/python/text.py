"""Chat, completions and embeddings of the synthetic engine, which repeats the words it is given."""

import openai

from checks import check, equal, holds, raises
from product import client


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
