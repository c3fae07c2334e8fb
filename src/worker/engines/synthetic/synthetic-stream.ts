import { DomainError } from '../../../core/shared/domain-error.js';
import { type RecognizerEvent, type RecognizerStream } from '../engine.js';
import { evenlySpread, syntheticText } from './synthetic-transcript.js';

const RATE = 16_000;

/** A live stream of synthetic text: a partial for every push, a final for every commit. */
export class SyntheticStream implements RecognizerStream {
  #bytes = Buffer.alloc(0);
  #utterance = 0;
  /** Seconds of the stream before this utterance. */
  #start = 0;
  #closed = false;

  constructor(
    private readonly partials: boolean,
    private readonly release: () => void,
  ) {}

  push(samples: Int16Array): Promise<readonly RecognizerEvent[]> {
    if (this.#closed) return closed();
    this.#bytes = Buffer.concat([this.#bytes, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)]);
    const text = syntheticText(this.#bytes);
    return Promise.resolve(this.partials && text ? [{ type: 'partial', utterance: this.#utterance, text }] : []);
  }

  commit(): Promise<readonly RecognizerEvent[]> {
    if (this.#closed) return closed();
    const start = this.#start;
    const end = start + this.#bytes.length / 2 / RATE;
    const text = syntheticText(this.#bytes);
    const words = evenlySpread(text, start, end);
    this.#start = end;
    this.#bytes = Buffer.alloc(0);
    return Promise.resolve([{ type: 'final', utterance: this.#utterance++, text, start, end, words }]);
  }

  close(): Promise<void> {
    if (!this.#closed) this.release();
    this.#closed = true;
    return Promise.resolve();
  }
}

function closed(): Promise<never> {
  return Promise.reject(new DomainError('engine_failed', 'The stream is closed.'));
}
