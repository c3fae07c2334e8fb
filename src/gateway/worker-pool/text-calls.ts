import { type ClientReadableStream, type ClientUnaryCall } from '@grpc/grpc-js';
import {
  decodeEmbedded,
  decodeGenerationMessage,
  type EmbedResponse,
  encodeEmbedCall,
  encodeGenerateCall,
  type GenerateCallFields,
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

export const generateFields = (
  { request: { key: requestId, priority, tenant = '', traceparent }, group, tenantWeight = 1 }: CallRequest,
  { kind: _, sink, ...fields }: GenerateTask,
): GenerateCallFields => ({
  ...fields,
  requestId,
  priority,
  group,
  tenant,
  tenantWeight,
  traceparent,
  stream: sink !== undefined,
});

type Done = Extract<GenerationMessage, { kind: 'done' }>;

/**
 * One `Generate` RPC: chunks flow from the worker into the task's sink with back pressure, or are kept for the reply.
 */
export class GenerateCall implements StartedCall {
  readonly reply: Promise<WorkerReply>;
  readonly finished: Promise<void>;
  readonly sent = true;
  readonly #stream: ClientReadableStream<GenerateResponse>;
  readonly #receiver: TextReceiver;

  constructor(channel: WorkerChannel, call: CallRequest, task: GenerateTask) {
    const message = encodeGenerateCall(generateFields(call, task));
    const stream = channel.track(() => channel.text.generate(message));
    this.#receiver = new TextReceiver(task.sink);
    this.#stream = stream;
    // `status` is always emitted, once; a slow reader of the last chunks does not hold the slot.
    this.finished = new Promise(resolve => stream.once('status', () => resolve()));
    // Read to the end even when the sink has closed: stopping early would leave the call open.
    this.reply = this.#receiver.receive(async take => {
      for await (const message of stream as AsyncIterable<GenerateResponse>) {
        const part = decodeGenerationMessage(message);
        if (part) await take(part);
      }
    });
  }

  abandon(): void {
    this.#receiver.abandon();
  }

  reset(): void {
    this.#receiver.abandon();
    this.#stream.cancel();
  }
}

/** Takes the messages of one generation in order. Resolves when there is room for more; never rejects. */
export type MessageSink = (message: GenerationMessage) => Promise<void>;

/** Where the text of one generation goes: into the task's sink at its pace, or into the reply. */
export class TextReceiver {
  readonly #output: Output;
  #done: Done | undefined;

  constructor(sink: GenerationOutput | undefined) {
    this.#output = sink ? new StreamedOutput(sink) : new WholeOutput();
  }

  /**
   * @param run gives all messages to its argument
   * @throws DomainError when the text is not complete or did not reach its reader; what `run` throws
   */
  async receive(run: (take: MessageSink) => Promise<void>): Promise<WorkerReply> {
    let succeeded = false;
    try {
      await run(message => this.#take(message));
      this.#output.check();
      if (!this.#done)
        throw new DomainError('engine_failed', 'The worker ended the text without reporting it as complete.');
      succeeded = true;
      const { kind: _, ...rest } = this.#done;
      return { kind: 'generation', answer: this.#output.answer, ...rest };
    } finally {
      this.#output.finish(succeeded);
    }
  }

  abandon(): void {
    this.#output.abandon();
  }

  #take(message: GenerationMessage): Promise<void> {
    if (message.kind === 'chunk') return this.#output.take(message.json);
    this.#done = message;
    return Promise.resolve();
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

  take(json: Buffer): Promise<void> {
    if (!this.#begun && !this.#writer.gone) this.sink.begin();
    this.#begun = true;
    return this.#writer.write(json);
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
