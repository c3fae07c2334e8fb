import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  splitIntoUtterances,
  type UtteranceLengths,
} from '@switchyard/engine-api/audio/utterance-split.js';
import { type RecognizerEvent } from '@switchyard/engine-api/speech-recognizer.js';
import { serveThread } from '@switchyard/engine-api/threads/remote-calls.js';
import { CancelFlag } from '@switchyard/engine-api/threads/shared-memory.js';
import {
  loadSherpa,
  type OnlineRecognizer,
  type OnlineStream,
  type RecognizerResult,
  toFloats,
} from './library.js';
import { type HeardUtterance, type RecognizerThread } from './protocol.js';
import { wordsOf } from './transcript.js';
import { openVoiceActivity } from './voice-activity.js';

const RATE = 16_000;
/** Shortest audio that is decoded; some models crash on audio shorter than their first window. */
const LEAST = RATE / 2;

/**
 * Silence after an utterance, so that the model's last, half-filled step is decoded too.
 */
const TAIL = new Float32Array(0.8 * RATE);

/**
 * One live stream: every utterance is a fresh stream of the recogniser, so nothing of the
 * one before is left in it.
 */
class LiveUtterances {
  #stream: OnlineStream | undefined;
  #utterance = 0;
  /** Samples of the stream before this utterance, and of this utterance. */
  #offset = 0;
  #length = 0;
  #lastPartial = '';
  #calls: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly decoding: OnlineDecoding,
    private readonly partials: boolean,
  ) {}

  push(samples: Int16Array): Promise<RecognizerEvent[]> {
    return this.#inTurn(async () => {
      this.#length += samples.length;
      const result = await this.#hear(toFloats(samples));
      const text = result.text.trim();
      if (!this.partials || text === '' || text === this.#lastPartial) return [];
      this.#lastPartial = text;
      return [{ type: 'partial', utterance: this.#utterance, text }];
    });
  }

  /**
   * Ends the utterance: exactly one `final`, with an empty text when nothing was said.
   */
  commit(): Promise<RecognizerEvent[]> {
    return this.#inTurn(async () => {
      const [start, end] = [this.#offset / RATE, (this.#offset + this.#length) / RATE];
      const result = this.#stream && (await this.#hear(TAIL, true));
      const text = result?.text.trim() ?? '';
      const words = result ? wordsOf(result, start, end) : [];
      this.#stream = undefined;
      this.#offset += this.#length;
      this.#length = 0;
      this.#lastPartial = '';
      return [{ type: 'final', utterance: this.#utterance++, text, start, end, words }];
    });
  }

  async #hear(samples: Float32Array, last = false): Promise<RecognizerResult> {
    this.#stream ??= this.decoding.recognizer.createStream();
    this.#stream.acceptWaveform({ sampleRate: RATE, samples });
    if (last) this.#stream.inputFinished();
    return this.decoding.drained(this.#stream);
  }

  /** Calls of one stream are answered in order, whoever else is decoded in between. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const answer = this.#calls.then(work);
    this.#calls = answer.catch(() => undefined);
    return answer;
  }
}

/**
 * Decodes live streams together: all that are ready when the recogniser is free go
 * through one step of the model, and those whose audio came meanwhile join the next.
 */
class OnlineDecoding {
  readonly recognizer: OnlineRecognizer;
  readonly #waiting = new Map<OnlineStream, () => void>();
  #failure: Error | undefined;
  #running = false;
  readonly counters = { runs: 0, rows: 0 };

  constructor(config: object) {
    this.recognizer = new (loadSherpa().OnlineRecognizer)(config);
  }

  /** The result, once the stream has no more audio to decode. */
  async drained(stream: OnlineStream): Promise<RecognizerResult> {
    await new Promise<void>(resolve => {
      this.#waiting.set(stream, resolve);
      if (!this.#running) void this.#run();
    });
    if (this.#failure) throw this.#failure;
    return this.recognizer.getResult(stream);
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.size > 0) {
      await nextTurn();
      this.#step();
    }
    this.#running = false;
  }

  #step(): void {
    try {
      const ready = [...this.#waiting.keys()].filter(stream => this.recognizer.isReady(stream));
      if (ready.length > 0) this.#decode(ready);
      for (const [stream, resolve] of this.#waiting) {
        if (this.recognizer.isReady(stream)) continue;
        this.#waiting.delete(stream);
        resolve();
      }
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      for (const resolve of this.#waiting.values()) resolve();
      this.#waiting.clear();
    }
  }

  #decode(streams: readonly OnlineStream[]): void {
    this.recognizer.decodeStreams(streams);
    this.counters.runs += 1;
    this.counters.rows += streams.length;
  }
}

/** Recognises one stretch of at most 15 s. */
type DecodeStretch = (samples: Float32Array) => Promise<RecognizerResult>;

async function decodeWhole(config: object): Promise<DecodeStretch> {
  const recognizer = await loadSherpa().OfflineRecognizer.createAsync(config);
  return samples => {
    const stream = recognizer.createStream();
    stream.acceptWaveform({ sampleRate: RATE, samples });
    return recognizer.decodeAsync(stream);
  };
}

function decodeAsStream(decoding: OnlineDecoding): DecodeStretch {
  return async samples => {
    const stream = decoding.recognizer.createStream();
    stream.acceptWaveform({ sampleRate: RATE, samples });
    stream.acceptWaveform({ sampleRate: RATE, samples: TAIL });
    stream.inputFinished();
    return decoding.drained(stream);
  };
}

/** Pauses that belong to a sentence, in which a recogniser may hear words. */
const PAUSE = { threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 300 };

/** From the first speech of a range to its last; undefined: there is none. */
function spoken(samples: Int16Array, { from, to }: { readonly from: number; readonly to: number }) {
  const voice = openVoiceActivity(PAUSE);
  try {
    const events = [...voice.push(samples.subarray(from, to)), ...voice.end()];
    const [first] = events;
    const last = events.at(-1);
    return first?.type === 'started' && last?.type === 'stopped'
      ? { from: from + first.audioFrom, to: from + last.audioTo }
      : undefined;
  } finally {
    voice.close();
  }
}

/**
 * A file in stretches of 8-15 s, cut at pauses: Whisper-class models hear no more than 30
 * s at once, others need memory that grows with the square, and a running decode cannot
 * be stopped: a cancel is heard between stretches.
 */
async function decodeFile(
  decode: DecodeStretch,
  { samples, stretches }: { samples: Int16Array; stretches: UtteranceLengths | undefined },
  isCancelled: () => boolean,
  onHeard: (utterance: HeardUtterance) => void,
): Promise<true | undefined> {
  for (const range of splitIntoUtterances(samples, stretches)) {
    if (isCancelled()) return undefined;
    const found = stretches ? spoken(samples, range) : range;
    if (found === undefined) continue;
    const { from, to } = found;
    const result = await decode(toFloats(samples, from, to, LEAST));
    onHeard({ start: from / RATE, end: to / RATE, result });
  }
  return isCancelled() ? undefined : true;
}

/**
 * Entry of the thread that holds one recognition model. No decorators here or
 * in anything imported.
 */
void serveThread<RecognizerThread>(async ({ streaming, config, stretches }) => {
  const decoding = streaming ? new OnlineDecoding(config) : undefined;
  const decode = decoding ? decodeAsStream(decoding) : await decodeWhole(config);
  const streams = new Map<number, LiveUtterances>();
  const opened = (id: number): LiveUtterances => {
    const stream = streams.get(id);
    if (stream === undefined) throw new Error('The stream is closed.');
    return stream;
  };
  return {
    info: undefined,
    operations: {
      decode: ({ samples, cancel }, onHeard) => {
        const flag = new CancelFlag(cancel);
        return decodeFile(decode, { samples, stretches }, () => flag.raised, onHeard);
      },
      open: ({ id, partials }) => {
        if (decoding === undefined) throw new Error('The model hears whole files only.');
        streams.set(id, new LiveUtterances(decoding, partials));
      },
      push: ({ id, samples }) => opened(id).push(samples),
      commit: ({ id }) => opened(id).commit(),
      close: ({ id }) => void streams.delete(id),
      counters: () => decoding?.counters ?? { runs: 0, rows: 0 },
    },
    // Native memory goes with the thread: the package frees it when its
    // handles are collected.
    close: () => streams.clear(),
  };
});
