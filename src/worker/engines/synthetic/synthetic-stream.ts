import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../../core/shared/domain-error.js';
import { type RecognizerEvent, type RecognizerStream } from '../engine.js';
import { type ScriptedFault } from './synthetic-options.js';
import { evenlySpread, syntheticText } from './synthetic-transcript.js';

const RATE = 16_000;

export interface SyntheticStreamOptions {
  readonly partials: boolean;
  /** What the text depends on besides the audio. */
  readonly conditions: readonly string[];
  readonly faults: readonly ScriptedFault[];
  /** Its place is free. */
  release(): void;
}

/**
 * A live stream of synthetic text: a partial for every push, a final for every commit. A scripted fault strikes the push that
 * completes its marker in an utterance.
 */
export class SyntheticStream implements RecognizerStream {
  #bytes = Buffer.alloc(0);
  #utterance = 0;
  /** Seconds of the stream before this utterance. */
  #start = 0;
  #lingerMs = 0;
  #closed: Promise<void> | undefined;

  constructor(private readonly options: SyntheticStreamOptions) {}

  async push(samples: Int16Array): Promise<readonly RecognizerEvent[]> {
    if (this.#closed) return closed();
    const heard = this.#bytes.length;
    this.#bytes = Buffer.concat([this.#bytes, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)]);
    await this.#suffer(heard);
    const text = this.#text();
    return this.options.partials && text ? [{ type: 'partial', utterance: this.#utterance, text }] : [];
  }

  commit(): Promise<readonly RecognizerEvent[]> {
    if (this.#closed) return closed();
    const start = this.#start;
    const end = start + this.#bytes.length / 2 / RATE;
    const text = this.#text();
    const words = evenlySpread(text, start, end);
    this.#start = end;
    this.#bytes = Buffer.alloc(0);
    return Promise.resolve([{ type: 'final', utterance: this.#utterance++, text, start, end, words }]);
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    if (this.#lingerMs > 0) await sleep(this.#lingerMs);
    this.options.release();
  }

  #text(): string {
    return syntheticText(this.#bytes, this.options.conditions);
  }

  async #suffer(heardBytes: number): Promise<void> {
    const completes = ({ marker }: ScriptedFault) =>
      this.#bytes.includes(marker, Math.max(0, heardBytes - Buffer.byteLength(marker) + 1));
    const fault = this.options.faults.find(completes);
    if (fault?.action === 'fail') throw new DomainError('engine_failed', `Scripted fault '${fault.marker}'.`);
    if (fault?.action === 'linger') this.#lingerMs = fault.ms;
    if (fault?.action === 'slow') await sleep(fault.ms);
    if (fault?.action === 'hang') await new Promise<never>(() => undefined);
    if (fault?.action === 'crash') process.kill(process.pid, 'SIGKILL');
  }
}

function closed(): Promise<never> {
  return Promise.reject(new DomainError('engine_failed', 'The stream is closed.'));
}
