"""Whisper through CTranslate2 behind the gateway, on generated weights."""

from concurrent.futures import ThreadPoolExecutor

import openai
from checks import check, equal, holds, raises
from product import client
from spoken_whisper import FILES, SENTENCES, SPEECH, as_flac, heard, joined, worker


@check("ctranslate2: hears what was said")
def _():
    with ThreadPoolExecutor(8) as callers:
        texts = [answer.text for answer in callers.map(lambda file: heard(file, language="en"), FILES)]
    right = sum(one == said for one, said in zip(texts, SENTENCES, strict=True))
    print(f"      {right} of 24 files as said", flush=True)
    holds(right >= 20, [pair for pair in zip(texts, SENTENCES, strict=True) if pair[0] != pair[1]])
    holds(max(worker.batches()) > 1, worker.batches())


@check("ctranslate2: eight at once are heard as each alone")
def _():
    alone = [heard(file).text for file in FILES[:8]]
    with ThreadPoolExecutor(8) as callers:
        equal([answer.text for answer in callers.map(heard, FILES[:8])], alone)


@check("ctranslate2: words have times, tokens have log probabilities")
def _():
    options = {"response_format": "verbose_json", "timestamp_granularities": ["word", "segment"]}
    answer = heard(FILES[0], language="en", **options)
    equal(" ".join(word.word for word in answer.words), answer.text)
    times = [time for word in answer.words for time in (word.start, word.end)]
    holds(times == sorted(times) and times[-1] <= answer.duration, times)
    equal(answer.language, "english")
    logprobs = heard(FILES[0], include=["logprobs"]).logprobs
    equal("".join(one.token for one in logprobs).strip(), answer.text)
    holds(all(one.logprob <= 0 for one in logprobs), logprobs)


@check("ctranslate2: languages, translations and prompts")
def _():
    equal(heard(FILES[0], language="de", response_format="verbose_json").language, "german")
    error = raises(openai.BadRequestError, lambda: heard(FILES[0], language="cy"))
    equal((error.code, error.param), ("invalid_value", "language"))
    holds(heard(FILES[0], prompt="one two three").text, "no text")
    holds(client.audio.translations.create(file=("speech.wav", FILES[0]), model="ctranslate2").text, "no text")


@check("ctranslate2: long audio goes in windows, and in FLAC as well")
def _():
    file = joined(SPEECH * 2)
    calls = len(worker.batches())
    answer = heard(file, language="en", response_format="verbose_json")
    starts = [segment.start for segment in answer.segments]
    holds(answer.duration > 60 and starts == sorted(starts) and len(starts) > 20, answer.duration)
    holds(max(worker.batches()[calls:]) == 8, worker.batches()[calls:])
    cut = heard(file, language="en", chunking_strategy="auto")
    holds(len(cut.text.split()) > 60, cut.text)
    equal(heard(as_flac(FILES[0])).text, heard(FILES[0]).text)


@check("ctranslate2: what is no audio is the caller's 400")
def _():
    error = raises(openai.BadRequestError, lambda: heard(b"no audio" * 200))
    equal((error.code, error.param), ("invalid_audio", "file"))


@check("ctranslate2: switchyard worker check finds nothing wrong, and it drains")
def _():
    equal(worker.conforms(), [])
    equal(worker.process.wait(15), 0)
