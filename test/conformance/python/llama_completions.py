"""Completions on llama.cpp: texts, lists of them, tokens, and what is refused."""

import openai

from checks import check, equal, holds, raises
from llama import MODEL
from product import client

# What the model makes of the text "ab": the token of a beginning, a space, a and b.
TOKENS = [1, 263, 264, 265]
LETTERS = {"extra_body": {"grammar": "root ::= [a-z]{8}"}}
complete = client.completions.create


def asked(prompt, **fields):
    return {"model": MODEL, "prompt": prompt, "max_tokens": 8, **fields}


@check("llama completions: whole and streamed are the same, with the same usage")
def _():
    fields = asked("ab", seed=3, **LETTERS)
    whole = complete(**fields)
    equal((whole.object, len(whole.choices[0].text), whole.usage.completion_tokens), ("text_completion", 8, 8))
    chunks = list(complete(**fields, stream=True, stream_options={"include_usage": True}))
    equal("".join(choice.text for chunk in chunks for choice in chunk.choices), whole.choices[0].text)
    equal((chunks[-1].choices, chunks[-1].usage.completion_tokens), ([], 8))


@check("llama completions: a text and its tokens are one prompt")
def _():
    text, tokens = (complete(**asked(prompt, seed=3, **LETTERS)) for prompt in ("ab", TOKENS))
    equal((tokens.choices[0].text, tokens.usage.prompt_tokens), (text.choices[0].text, len(TOKENS)))


@check("llama completions: lists of texts and of tokens, with n choices each, in order")
def _():
    for prompts in (["ab", "a train"], [TOKENS, [1, 270, 271]]):
        alone = [complete(**asked(prompt, seed=5, n=2, **LETTERS)) for prompt in prompts]
        together = complete(**asked(prompts, seed=5, n=2, **LETTERS))
        equal([choice.index for choice in together.choices], [0, 1, 2, 3])
        wanted = [choice.text for one in alone for choice in one.choices]
        equal([choice.text for choice in together.choices], wanted)
        equal(together.usage.prompt_tokens, sum(one.usage.prompt_tokens for one in alone))
        texts = ["", "", "", ""]
        for chunk in complete(**asked(prompts, seed=5, n=2, **LETTERS), stream=True):
            for choice in chunk.choices:
                texts[choice.index] += choice.text
        equal(texts, wanted)


@check("llama completions: 16 tokens without a limit; stop and best_of as n are known")
def _():
    endless = {"extra_body": {"grammar": "root ::= [a-z] root"}}
    answer = complete(model=MODEL, prompt="ab", seed=1, n=2, best_of=2, **endless)
    equal([(len(choice.text), choice.finish_reason) for choice in answer.choices], [(16, "length")] * 2)
    text = answer.choices[0].text
    short = complete(model=MODEL, prompt="ab", seed=1, stop=text[4:6], **endless).choices[0]
    equal((short.text, short.finish_reason), (text[: text.index(text[4:6])], "stop"))


@check("llama completions: logprobs have tokens, alternatives and offsets")
def _():
    answer = complete(**asked("ab", seed=3, logprobs=2, **LETTERS)).choices[0]
    equal("".join(answer.logprobs.tokens), answer.text)
    equal(answer.logprobs.text_offset, list(range(8)))
    equal([len(top) for top in answer.logprobs.top_logprobs], [2] * 8)
    holds(all(score <= 0 for score in answer.logprobs.token_logprobs), answer.logprobs)


@check("llama completions: what cannot be done is refused by name")
def _():
    def refusal(prompt="ab", **fields):
        error = raises(openai.BadRequestError, lambda: complete(**asked(prompt, **fields)))
        return error.param, error.code

    for fields in ({"echo": True}, {"suffix": "x"}, {"best_of": 4}):
        equal(refusal(**fields), (next(iter(fields)), "unsupported_parameter"))
    for fields in ({"logprobs": 6}, {"max_tokens": 0}, {"n": 129}, {"logit_bias": {"99999": 1}}):
        equal(refusal(**fields), (next(iter(fields)), "invalid_value"))
    for prompt in ([], ["ab", 1], [-1], [99999], [[1], []], ["ab"] * 2049):
        equal(refusal(prompt), ("prompt", "invalid_value"))
    equal(refusal("ab " * 2000), ("prompt", "context_length_exceeded"))
    equal(refusal(max_tokens=1024), ("prompt", "context_length_exceeded"))
