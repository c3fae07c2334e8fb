"""A worker that "transcribes" a WAV file to its length and loudness: python loudness.py --model meter"""

import array
import io
import math
import time
import wave
from collections.abc import Sequence

from switchyard.v1.stt_pb2 import Segment, TranscribeFileRequest, TranscribeFileResponse
from switchyard_worker import Request, Transcriber, WorkerError, serve

Call = Request[TranscribeFileRequest]


class LoudnessMeter(Transcriber):
    name = "loudness"
    max_batch = 8
    capabilities = ("transcribe", "prompt")

    def prepare(self, call: Call) -> None:
        """Before the device, on a thread pool: decode. An exception fails this request alone."""
        try:
            with wave.open(io.BytesIO(call.message.audio)) as file:
                samples = array.array("h", file.readframes(file.getnframes()))
                call.prepared = (samples, len(samples) / file.getframerate() / file.getnchannels())
        except (wave.Error, EOFError) as error:
            raise WorkerError("invalid_audio", f"The file is not a WAV file: {error}", "file") from error

    def transcribe(self, batch: Sequence[Call]) -> list[TranscribeFileResponse | BaseException]:
        """One call for all that is ready: one result, or one exception, for each request."""
        time.sleep(max(seconds_of(call) for call in batch))
        return [measured(call) for call in batch]


def seconds_of(call: Call) -> float:
    """A prompt such as "sleep 2" makes the device slow, to try priorities and cancels."""
    verb, _, seconds = call.message.prompt.partition(" ")
    return float(seconds) if verb == "sleep" else 0.05


def measured(call: Call) -> TranscribeFileResponse | BaseException:
    samples, duration = call.prepared
    if not samples:
        return WorkerError("audio_too_short", "The audio holds no samples.", "file")
    power = sum(sample * sample for sample in samples) / len(samples)
    text = f"{duration:.2f} s at {10 * math.log10(power / 32768**2 + 1e-10):.0f} dB"
    segment = Segment(start=0, end=duration, text=text)
    return TranscribeFileResponse(text=text, language="en", duration_s=duration, segments=[segment])


if __name__ == "__main__":
    serve(LoudnessMeter())
