"""Transcriptions, translations and speech."""

import base64
import io
import wave

from checks import check, equal, holds
from product import HEARD, SENTENCE, client, spoken, transcribe


def tone(seconds):
    """A data URL of so many seconds of audio."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16000)
        out.writeframes(b"\x00\x10\x00\xf0" * (8000 * seconds))
    return "data:audio/wav;base64," + base64.b64encode(file.getvalue()).decode()


@check("transcription: json has text and usage")
def _():
    answer = transcribe(file=spoken(), model="whisper-1")
    equal(answer.text, HEARD)
    equal(answer.usage.type, "duration")


@check("transcription: text is the text and a newline")
def _():
    equal(transcribe(file=spoken(), model="whisper-1", response_format="text"), HEARD + "\n")


@check("transcription: srt and vtt are subtitles")
def _():
    srt = transcribe(file=spoken(), model="whisper-1", response_format="srt")
    holds(srt.startswith("1\n00:00:0") and " --> " in srt and HEARD in srt, srt)
    vtt = transcribe(file=spoken(), model="whisper-1", response_format="vtt")
    holds(vtt.startswith("WEBVTT\n\n00:00:0") and HEARD in vtt, vtt)


@check("transcription: verbose_json has segments, and words when asked for")
def _():
    plain = transcribe(file=spoken(), model="whisper-1", response_format="verbose_json")
    equal((plain.text, plain.language, plain.words), (HEARD, "english", None))
    holds(plain.segments[0].end > plain.segments[0].start, plain.segments)
    both = transcribe(
        file=spoken(), model="whisper-1", response_format="verbose_json", timestamp_granularities=["word", "segment"]
    )
    equal(" ".join(word.word for word in both.words), HEARD)
    holds(both.segments and 2 < both.duration < 5, both.duration)
    words = transcribe(
        file=spoken(), model="whisper-1", response_format="verbose_json", timestamp_granularities=["word"]
    )
    equal(words.segments, None)


@check("transcription: stream is deltas that are the text, then one done")
def _():
    events = list(transcribe(file=spoken(), model="gpt-4o-transcribe", stream=True))
    equal({event.type for event in events[:-1]}, {"transcript.text.delta"})
    equal(events[-1].type, "transcript.text.done")
    equal("".join(event.delta for event in events[:-1]), HEARD)
    equal(events[-1].text, HEARD)


@check("transcription: logprobs are tokens that spell the text")
def _():
    answer = transcribe(file=spoken(), model="synthetic", include=["logprobs"])
    equal("".join(item.token for item in answer.logprobs), answer.text)
    equal(bytes(b for item in answer.logprobs for b in map(int, item.bytes)).decode(), answer.text)
    events = list(transcribe(file=spoken(), model="synthetic", include=["logprobs"], stream=True))
    holds(all(event.logprobs for event in events), events)


@check("transcription: diarized_json names speakers, known ones by name")
def _():
    answer = transcribe(
        file=spoken(),
        model="gpt-4o-transcribe-diarize",
        response_format="diarized_json",
        chunking_strategy="auto",
        known_speaker_names=["agent"],
        known_speaker_references=[tone(3)],
    )
    equal(answer.task, "transcribe")
    equal([item.speaker for item in answer.segments][:2], ["agent", "A"])
    equal(answer.segments[0].type, "transcript.text.segment")
    equal(type(answer.segments[0].id), str)


@check("transcription: diarized_json as a stream has its segments")
def _():
    events = list(
        transcribe(file=spoken(), model="gpt-4o-transcribe-diarize", response_format="diarized_json", stream=True)
    )
    segments = [event for event in events if event.type == "transcript.text.segment"]
    deltas = [event for event in events if event.type == "transcript.text.delta"]
    equal([event.segment_id for event in deltas], [event.id for event in segments])
    equal([segment.speaker for segment in segments][:2], ["A", "B"])
    equal(events[-1].type, "transcript.text.done")


@check("transcription: prompt, temperature, language, keywords and a chunking strategy")
def _():
    vad = {"type": "server_vad", "threshold": 0.4, "silence_duration_ms": 300}
    answer = transcribe(
        file=spoken(), model="synthetic", prompt="p", temperature=0.2, language="en",
        keywords=["Switchyard"], chunking_strategy=vad,
    )  # fmt: skip
    holds(answer.text != transcribe(file=spoken(), model="synthetic").text, "the fields changed nothing")


@check("transcription: unknown fields and headers are accepted")
def _():
    answer = transcribe(
        file=spoken(), model="whisper-1", extra_body={"newer": {"a": 1}}, extra_headers={"OpenAI-Organization": "org"}
    )
    equal(answer.text, HEARD)


@check("translation: json, text and verbose_json")
def _():
    translate = client.audio.translations.create
    translated = translate(file=spoken(), model="whisper-1").text
    equal(translate(file=spoken(), model="whisper-1", response_format="text"), translated + "\n")
    verbose = translate(file=spoken(), model="whisper-1", response_format="verbose_json")
    equal((verbose.text, verbose.language), (translated, "english"))


@check("speech: every format begins as it should and is heard again")
def _():
    starts = {"mp3": (b"ID3", b"\xff\xf3", b"\xff\xfb"), "opus": (b"OggS",), "aac": (b"\xff\xf1",), "flac": (b"fLaC",),
              "wav": (b"RIFF",)}  # fmt: skip
    for name, begins in starts.items():
        audio = client.audio.speech.create(model="tts-1", voice="nova", input=SENTENCE, response_format=name).content
        holds(audio.startswith(begins), f"{name} begins with {audio[:4]!r}")
        heard = transcribe(file=(f"a.{name}", audio), model="whisper-1", response_format="verbose_json")
        holds(2 < heard.duration < 5, f"{name} is {heard.duration} s")


@check("speech: streams bytes, to a file and as pcm of 24 kHz")
def _():
    with client.audio.speech.with_streaming_response.create(
        model="tts-1", voice="alloy", input=SENTENCE, response_format="pcm"
    ) as response:
        size = sum(len(chunk) for chunk in response.iter_bytes(4096))
    holds(2 < size / 48000 < 5, f"{size} bytes")


@check("speech: stream_format=sse is deltas of base64, then done")
def _():
    lines = []
    with client.audio.speech.with_streaming_response.create(
        model="tts-1", voice="alloy", input="Hello.", stream_format="sse"
    ) as response:
        lines = [line for line in response.iter_lines() if line.startswith("data: ")]
    holds('"speech.audio.delta"' in lines[0] and any('"speech.audio.done"' in line for line in lines), lines[-2:])
