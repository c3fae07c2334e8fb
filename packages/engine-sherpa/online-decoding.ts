import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RecognizerEvent } from '@switchyard/engine-api/speech-recognizer.js';
import { wordsOf } from './transcript.js';
import {
  type OnlineRecognizer,
  type OnlineStream,
  type RecognizerResult,
  toFloats,
} from './library.js';
import { type StreamCounters } from './protocol.js';

const RATE = 16_000;
/**
 * Silence after an utterance, so that the model's last, half-filled step is decoded too.
 */
export const TAIL = new Float32Array(0.8 * RATE);

/**
 * One live stream: every utterance is a fresh stream of the recogniser, so nothing of the
 * one before is left in it.
 */
export class LiveUtterances {
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
export class OnlineDecoding {
  readonly #waiting = new Map<OnlineStream, () => void>();
  #failure: Error | undefined;
  #running = false;
  readonly #counters = { runs: 0, rows: 0, largest: 0 };

  constructor(readonly recognizer: OnlineRecognizer) {}

  get counters(): StreamCounters {
    return { ...this.#counters };
  }

  /** What was heard, once the stream has no more audio to decode. */
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
      const ready = [...this.#waiting.keys()].filter(stream =>
        this.recognizer.isReady(stream),
      );
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
    this.#counters.runs += 1;
    this.#counters.rows += streams.length;
    this.#counters.largest = Math.max(this.#counters.largest, streams.length);
  }
}
