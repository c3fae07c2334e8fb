import { Transform, type TransformCallback } from 'node:stream';
import { withJsonFields } from '../../contracts/formats/json-fields.js';
import { SSE_DONE, sseData } from '../../contracts/formats/server-sent-event.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { type DomainError } from '../../core/shared/domain-error.js';
import { type GenerationSink } from '../worker-pool/worker-task.js';

export interface GenerationStreamOptions {
  /** Bytes that wait for a reader; beyond, the worker is held back. */
  readonly maxBufferedBytes: number;
  /** Set in every chunk; the rest of it goes out as it came. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly onChunk: () => void;
}

const NEWLINES = /[\r\n]+/g;

/**
 * Generated text on its way from a worker to one caller as OpenAI's events: chunks, then `[DONE]`, or the error envelope when it broke
 * in the middle.
 */
export class GenerationStream implements GenerationSink {
  readonly chunks: Transform;
  /** Resolves at the first chunk, or at the end of an answer that has none. */
  readonly started: Promise<void>;
  #start!: () => void;
  #failure: DomainError | undefined;

  constructor({ maxBufferedBytes, fields, onChunk }: GenerationStreamOptions) {
    this.started = new Promise(resolve => (this.#start = resolve));
    this.chunks = new Transform({
      writableHighWaterMark: maxBufferedBytes,
      transform: (json: Buffer, _encoding, done: TransformCallback) => {
        onChunk();
        this.#start();
        // An event is one line; outside of strings, where JSON has none, a line end is a space.
        done(null, `data: ${withJsonFields(json, fields).toString('utf8').replace(NEWLINES, ' ')}\n\n`);
      },
      flush: done => {
        this.#start();
        done(null, this.#failure ? sseData(errorEnvelope(this.#failure)) : SSE_DONE);
      },
    });
    // A caller that left destroys the stream; whoever still writes to it learns that from its own pipe.
    this.chunks.on('error', () => undefined);
  }

  /** Chunks wait for the reader: what is late then is not the worker. */
  get held(): boolean {
    return this.chunks.writableNeedDrain;
  }

  begin(): void {
    // The scheduler heard it: this request is not sent again.
  }

  /** What came before goes out first. */
  fail(error: DomainError): void {
    this.#failure = error;
    this.chunks.end();
  }
}
