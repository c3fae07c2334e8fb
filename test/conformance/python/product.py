"""The product under test, as its clients see it."""

import sys

import httpx2
import openai

BASE_URL = sys.argv[1]
SENTENCE = "He opened the window because the room was too hot."

client = openai.OpenAI(base_url=BASE_URL, api_key="unused", max_retries=0)
transcribe = client.audio.transcriptions.create
speech = client.audio.speech.create(model="tts-1", voice="alloy", input=SENTENCE, response_format="wav").content
HEARD = transcribe(file=("speech.wav", speech), model="whisper-1").text


def spoken(name="speech.wav"):
    return (name, speech)


def counting(**options):
    """A client, and the requests it has sent."""
    sent = []
    http = httpx2.Client(event_hooks={"request": [sent.append]})
    return openai.OpenAI(base_url=BASE_URL, api_key="unused", http_client=http, **options), sent
