import { type ClientReadableStream, type ClientUnaryCall } from '@grpc/grpc-js';
import {
  decodeEmbedded,
  decodeGenerationMessage,
  type EmbedResponse,
  encodeEmbedCall,
  encodeGenerateCall,
  type GenerateResponse,
  type GenerationMessage,
} from '../../contracts/grpc/generation.codec.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { SinkWriter } from './sink-writer.js';
import { type CallRequest, type StartedCall } from './worker-call.js';
import { type WorkerChannel } from './worker-channel.js';
import { type EmbedTask, type GenerateTask, type GenerationOutput, type WorkerReply } from './worker-task.js';

/** One `Embed` RPC. */
export class EmbedCall implements StartedCall {
  readonly reply: Promise<WorkerReply>;
  readonly finished: Promise<void>;
  readonly sent = true;
  #call: ClientUnaryCall | undefined;

  constructor(channel: WorkerChannel, { request, group }: CallRequest, { kind: _, ...task }: EmbedTask) {
    const { key: requestId, priority, tenant = '' } = request;
    const message = encodeEmbedCall({ ...task, requestId, priority, group, tenant });
    this.reply = channel
      .unary<EmbedResponse>(callback => (this.#call = channel.text.embed(message, callback)))
      .then(answer => ({ kind: 'embeddings', ...decodeEmbedded(answer) }));
    this.finished = this.reply.then(
      () => undefined,
      () => undefined,
    );
  }

  abandon(): void {
    // The answer is small: it arrives and is discarded.
  }

  reset(): void {
    this.#call?.cancel();
  }
}

type Done = Extract<GenerationMessage, { kind: 'done' }>;

/**
 * One `Generate` RPC: chunks flow from the worker into the task's sink with back pressure, or are kept for the reply.
 */
export class GenerateCall implements StartedCall {
  readonly reply: Promise<WorkerReply>;
  readonly finished: Promise<void>;
  readonly sent = true;
  readonly #stream: ClientReadableStream<GenerateResponse>;
  readonly #output: Output;

  constructor(channel: WorkerChannel, { request, group }: CallRequest, task: GenerateTask) {
    const { key: requestId, priority, tenant = '' } = request;
    const { sink, ...fields } = task;
    const call = { ...fields, requestId, priority, group, tenant, stream: sink !== undefined };
    const stream = channel.track(() => channel.text.generate(encodeGenerateCall(call)));
    this.#output = sink ? new StreamedOutput(sink) : new WholeOutput();
    this.#stream = stream;
    // `status` is always emitted, once; a slow reader of the last chunks does not hold the slot.
    this.finished = new Promise(resolve => stream.once('status', () => resolve()));
    this.reply = this.#run(stream);
  }

  abandon(): void {
    this.#output.abandon();
  }

  reset(): void {
    this.#output.abandon();
    this.#stream.cancel();
  }

  async #run(stream: ClientReadableStream<GenerateResponse>): Promise<WorkerReply> {
    let succeeded = false;
    try {
      const done = await this.#pump(stream);
      this.#output.check();
      if (!done) throw new DomainError('engine_failed', 'The worker ended the text without reporting it as complete.');
      succeeded = true;
      const { kind: _, ...rest } = done;
      return { kind: 'generation', answer: this.#output.answer, ...rest };
    } finally {
      this.#output.finish(succeeded);
    }
  }

  /** Reads to the end even when the sink has closed: stopping early would leave the call open. */
  async #pump(stream: AsyncIterable<GenerateResponse>): Promise<Done | undefined> {
    let done: Done | undefined;
    for await (const message of stream) {
      const part = decodeGenerationMessage(message);
      if (part?.kind === 'chunk') await this.#output.take(part.json);
      else if (part) done = part;
    }
    return done;
  }
}

interface Output {
  /** Empty when the text was streamed. */
  readonly answer: Buffer;
  /** Resolves when more can be taken. Never rejects. */
  take(json: Buffer): Promise<void>;
  abandon(): void;
  /** @throws DomainError when the text did not reach its reader. */
  check(): void;
  finish(succeeded: boolean): void;
}

class WholeOutput implements Output {
  answer: Buffer = Buffer.alloc(0);

  take(json: Buffer): Promise<void> {
    this.answer = json;
    return Promise.resolve();
  }

  abandon(): void {
    this.answer = Buffer.alloc(0);
  }

  check(): void {
    if (this.answer.length === 0) throw new DomainError('engine_failed', 'The worker sent no answer.');
  }

  finish(): void {
    // Holds nothing open.
  }
}

class StreamedOutput implements Output {
  readonly answer = Buffer.alloc(0);
  readonly #writer: SinkWriter;
  #begun = false;

  constructor(private readonly sink: GenerationOutput) {
    this.#writer = new SinkWriter(sink.chunks);
  }

  async take(json: Buffer): Promise<void> {
    if (!this.#begun && !this.#writer.gone) this.sink.begin();
    this.#begun = true;
    await this.#writer.write(json);
  }

  abandon(): void {
    this.#writer.abandon();
  }

  check(): void {
    if (this.#writer.gone) throw new DomainError('request_cancelled', 'The caller disconnected.');
  }

  finish(succeeded: boolean): void {
    this.#writer.finish(succeeded);
  }
}
