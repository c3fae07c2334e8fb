/**
 * Microphone → 40 ms of PCM16 mono at 24 kHz per message, with its loudness. Runs on
 * the audio thread.
 */
const RATE = 24_000;
const CHUNK = RATE / 25;

class PcmCapture extends AudioWorkletProcessor {
  #samples = new Int16Array(CHUNK);
  #filled = 0;
  #peak = 0;
  /**
   * Where in the next block the next sample lies, in its samples; below 0: between the
   * last one and its first.
   */
  #at = 0;
  #last = 0;

  process([channels]) {
    if (channels?.[0]) this.#take(mono(channels));
    return true;
  }

  /** Straight lines between samples; `sampleRate` is that of the audio context. */
  #take(block) {
    const step = sampleRate / RATE;
    for (; this.#at < block.length - 1; this.#at += step) {
      const left = Math.floor(this.#at);
      const before = left < 0 ? this.#last : block[left];
      this.#push(before + (block[left + 1] - before) * (this.#at - left));
    }
    this.#at -= block.length;
    this.#last = block[block.length - 1];
  }

  #push(sample) {
    const clipped = Math.max(-1, Math.min(1, sample));
    this.#peak = Math.max(this.#peak, Math.abs(clipped));
    this.#samples[this.#filled++] = Math.round(clipped * 32_767);
    if (this.#filled < CHUNK) return;
    const { buffer } = this.#samples;
    this.port.postMessage({ audio: buffer, level: this.#peak }, [buffer]);
    this.#samples = new Int16Array(CHUNK);
    this.#filled = 0;
    this.#peak = 0;
  }
}

function mono(channels) {
  if (channels.length === 1) return channels[0];
  return channels[0].map(
    (_, at) => channels.reduce((sum, channel) => sum + channel[at], 0) / channels.length,
  );
}

registerProcessor('pcm-capture', PcmCapture);
