"""Chat on llama.cpp: answers, streams, choices, seeds, stops, limits and log probabilities."""

import math

from checks import check, equal, holds
from llama import CONTEXT_TOKENS, MESSAGES, MODEL, asked, chat, endless, heard, said, written
from product import client


@check("llama chat: whole and streamed are the same words with the same usage")
def _():
    fields = asked(max_tokens=24, seed=3)
    whole = chat(**fields)
    chunks = list(chat(**fields, stream=True, stream_options={"include_usage": True}))
    equal(heard(chunks), [said(whole)])
    equal(chunks[0].choices[0].delta.role, "assistant")
    equal((chunks[-1].choices, [chunk.usage for chunk in chunks[:-1]]), ([], [None] * (len(chunks) - 1)))
    for usage in (whole.usage, chunks[-1].usage):
        equal((usage.completion_tokens, usage.total_tokens), (24, usage.prompt_tokens + 24))
    equal({(chunk.object, chunk.model) for chunk in chunks}, {("chat.completion.chunk", MODEL)})
    equal((whole.object, whole.choices[0].finish_reason), ("chat.completion", "length"))


@check("llama chat: without include_usage a stream has no usage and ends with its reason")
def _():
    chunks = list(chat(**asked(max_tokens=4, seed=3), stream=True))
    holds(all(chunk.usage is None and chunk.choices for chunk in chunks), chunks)
    equal(chunks[-1].choices[0].finish_reason, "length")
    equal({chunk.id for chunk in chunks}, {chunks[0].id})


@check("llama chat: the helper of streams tells deltas, and the whole at the end")
def _():
    fields = written("root ::= [a-z]{20}", seed=5)
    with client.chat.completions.stream(**fields) as stream:
        events = list(stream)
        final = stream.get_final_completion()
    deltas = "".join(event.delta for event in events if event.type == "content.delta")
    (done,) = [event for event in events if event.type == "content.done"]
    equal([deltas, done.content, said(final)], [said(chat(**fields))] * 3)
    equal((len(deltas), final.choices[0].finish_reason), (20, "stop"))


@check("llama chat: every role, text in parts, and a name are read")
def _():
    parts = [{"type": "text", "text": "what does "}, {"type": "text", "text": "a switchyard do?"}]
    equal(
        said(chat(**asked(max_tokens=8, seed=1))),
        said(chat(model=MODEL, messages=[{"role": "user", "content": parts}], max_tokens=8, seed=1)),
    )
    system, developer = (
        chat(model=MODEL, messages=[{"role": role, "content": "be brief"}, *MESSAGES], max_tokens=8, seed=1)
        for role in ("system", "developer")
    )
    equal(said(system), said(developer))
    talk = [*MESSAGES, {"role": "assistant", "content": "it sorts"}, {"role": "user", "content": "why?", "name": "ann"}]
    holds(chat(model=MODEL, messages=talk, max_tokens=8).usage.prompt_tokens > system.usage.prompt_tokens, "not longer")


@check("llama chat: a seed is the same answer, another one another, temperature 0 needs none")
def _():
    one, again, other = (said(chat(**asked(max_tokens=24, seed=seed))) for seed in (7, 7, 8))
    equal(one, again)
    holds(one != other, "two seeds, one answer")
    equal(*(said(chat(**asked(max_tokens=24, temperature=0, seed=seed))) for seed in (7, 8)))
    unseeded = {said(chat(**asked(max_tokens=24))) for _ in range(3)}
    equal(len(unseeded), 3)


@check("llama chat: n choices differ, and are those of the seeds that follow")
def _():
    letters = "root ::= [a-z]{16}"
    answer = chat(**written(letters, seed=20, n=3))
    equal([choice.index for choice in answer.choices], [0, 1, 2])
    alone = [said(chat(**written(letters, seed=seed))) for seed in (20, 21, 22)]
    equal([choice.message.content for choice in answer.choices], alone)
    equal(heard(chat(**written(letters, seed=20, n=3), stream=True)), alone)
    equal((sum(map(len, alone)), len(set(alone))), (48, 3))


@check("llama chat: stops before a stop string, one or four, also across tokens")
def _():
    fields = endless(60, seed=11)
    text = said(chat(**fields))
    stop = text[20:23]
    short = chat(**fields, stop=stop)
    equal((said(short), short.choices[0].finish_reason), (text[: text.index(stop)], "stop"))
    holds(short.usage.completion_tokens < 60, short.usage)
    first = min(text.index(one) for one in (stop, text[10:12]))
    equal(heard(chat(**fields, stop=["#", "##", stop, text[10:12]], stream=True)), [text[:first]])


@check("llama chat: max_completion_tokens, max_tokens, or else the rest of the context is the limit")
def _():
    for limit in ({"max_completion_tokens": 9}, {"max_tokens": 9}, {"max_tokens": 400, "max_completion_tokens": 9}):
        answer = chat(**asked(**limit, seed=1))
        equal((answer.usage.completion_tokens, answer.choices[0].finish_reason), (9, "length"))
    rest = chat(**endless(None, seed=1))
    equal((rest.usage.total_tokens, rest.choices[0].finish_reason), (CONTEXT_TOKENS, "length"))


def named(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "".join(f"\\x{byte:02x}" for byte in data)


@check("llama chat: logprobs spell the answer, with alternatives in order; half characters are named after their bytes")
def _():
    fields = asked(max_tokens=12, seed=4, logprobs=True)
    answer = chat(**fields, top_logprobs=20)
    tokens = answer.choices[0].logprobs.content
    equal(len(tokens), 12)
    equal(bytes(byte for token in tokens for byte in token.bytes).decode(errors="replace"), said(answer))
    for token in tokens:
        tops = [top.logprob for top in token.top_logprobs]
        equal((len(tops), tops), (20, sorted(tops, reverse=True)))
        equal([top.token for top in token.top_logprobs], [named(bytes(top.bytes)) for top in token.top_logprobs])
        holds(token.logprob < 0 and sum(map(math.exp, tops)) < 1, tops)
        equal(token.logprob in tops, token.logprob >= tops[-1])
    chunks = list(chat(**fields, stream=True))
    streamed = [item for chunk in chunks if chunk.choices[0].logprobs for item in chunk.choices[0].logprobs.content]
    equal([(item.token, item.logprob) for item in streamed], [(token.token, token.logprob) for token in tokens])
    equal([item.top_logprobs for item in streamed], [[]] * 12)
    equal(chat(**asked(max_tokens=2)).choices[0].logprobs, None)


@check("llama chat: logit_bias and the penalties act")
def _():
    # 264 to 289 are the letters a to z.
    equal(said(chat(**asked(max_tokens=5, logit_bias={"264": 100}))), "aaaaa")
    letters = written("root ::= [a-z]{40}", temperature=0)
    plain, varied = said(chat(**letters)), said(chat(**letters, presence_penalty=2, frequency_penalty=2))
    holds(len(set(varied)) > len(set(plain)), f"{plain} {varied}")


@check("llama chat: the tier that was used is told, whole and streamed")
def _():
    for tier, used in (("priority", "priority"), ("default", "default"), ("auto", "default"), ("flex", "flex"),
                       ("fast", "priority"), ("scale", "default")):  # fmt: skip
        equal(chat(**asked(max_tokens=1), service_tier=tier).service_tier, used)
    chunks = chat(**asked(max_tokens=1), service_tier="priority", stream=True)
    equal({chunk.service_tier for chunk in chunks}, {"priority"})


@check("llama chat: fields of newer and other clients change nothing")
def _():
    fields = asked(max_tokens=8, seed=2)
    answer = chat(
        **fields, user="u", store=False, metadata={"a": "b"}, reasoning_effort="low", verbosity="low",
        prompt_cache_key="k", safety_identifier="s", modalities=["text"], extra_body={"newer": {"a": [1]}},
    )  # fmt: skip
    equal(said(answer), said(chat(**fields)))
