"""Libraries that other people's programs use, with the settings that they have by themselves."""

import asyncio
import importlib
import os

import agents
import openai
from agents.voice import OpenAIVoiceModelProvider, STTModelSettings, TTSModelSettings
from agents.voice.input import AudioInput
from checks import check, equal, holds
from livekit import rtc
from livekit.agents import llm, stt, utils
from livekit.plugins import openai as livekit
from numpy import frombuffer, int16
from product import BASE_URL, HEARD, speech

# Its table of prices is on the web; the one that it brings will do.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
litellm = importlib.import_module("litellm")

ROOT = BASE_URL.removesuffix("/v1")
MODEL = "llama"
ACCESS = {"base_url": BASE_URL, "api_key": "unused"}
agents.set_tracing_disabled(True)


def question():
    context = llm.ChatContext.empty()
    context.add_message(role="user", content="what does a switchyard do?")
    return context


def within(work):
    """In an event loop with the HTTP session that the plugins look for."""

    async def run():
        async with utils.http_context.open():
            return await work()

    return asyncio.run(run())


async def said(model):
    """The text of an answer, and the tokens that it took."""
    text, usage = "", None
    async with model.chat(chat_ctx=question()) as stream:
        async for chunk in stream:
            text += (chunk.delta and chunk.delta.content) or ""
            usage = chunk.usage or usage
    return text, usage


@check("LiveKit: chat completions; Responses by HTTP and by WebSocket, to the end with their usage")
def _():
    for model in (
        livekit.LLM(model=MODEL, **ACCESS),
        livekit.responses.LLM(model=MODEL, use_websocket=False, **ACCESS),
        # By itself it names OpenAI's route; another one is given whole.
        livekit.responses.LLM(model=MODEL, base_url=f"{BASE_URL}/responses", api_key="unused"),
    ):
        text, usage = within(lambda model=model: said(model))
        holds(text and usage.completion_tokens > 0, (text, usage))


@check("LiveKit: text to speech with its default model and voice")
def _():
    async def spoken():
        frames = [audio.frame async for audio in livekit.TTS(**ACCESS).synthesize("Mind the gap.")]
        return sum(frame.duration for frame in frames)

    holds(within(spoken) > 0.3, "less than 0.3 s")


@check("LiveKit: speech to text with its default model")
def _():
    async def heard():
        samples = speech[44:]
        frame = rtc.AudioFrame(samples, rate_of(speech), 1, len(samples) // 2)
        event = await livekit.STT(**ACCESS).recognize([frame])
        equal(event.type, stt.SpeechEventType.FINAL_TRANSCRIPT)
        return event.alternatives[0].text

    holds(within(heard), "the words")


def rate_of(wav):
    return int.from_bytes(wav[24:28], "little")


@check("litellm: Ollama's chat and generate, whole and as a stream; its embeddings")
def _():
    asked = {"messages": [{"role": "user", "content": "hello"}], "api_base": ROOT, "max_tokens": 8}
    for provider in ("ollama", "ollama_chat"):
        whole = litellm.completion(model=f"{provider}/{MODEL}", **asked)
        holds(whole.usage.completion_tokens > 0, whole)
        parts = list(litellm.completion(model=f"{provider}/{MODEL}", stream=True, **asked))
        equal(parts[-1].choices[0].finish_reason in ("stop", "length"), True)
    vectors = litellm.embedding(model="ollama/llama-mean", input=["a"], api_base=ROOT)
    holds(len(vectors.data[0]["embedding"]) > 0, vectors)


@check("Agents SDK, voice: speech and transcription with its default models and settings")
def _():
    async def both():
        client = openai.AsyncOpenAI(**ACCESS)
        provider = OpenAIVoiceModelProvider(openai_client=client)
        sound = b"".join([chunk async for chunk in provider.get_tts_model(None).run("On time.", TTSModelSettings())])
        samples = frombuffer(speech[44:], dtype=int16)
        recording = AudioInput(buffer=samples, frame_rate=rate_of(speech))
        text = await provider.get_stt_model(None).transcribe(recording, STTModelSettings(), False, False)
        return sound, text

    sound, text = asyncio.run(both())
    holds(len(sound) > 10_000, len(sound))
    equal(text, HEARD)
