import { type ClientReadableStream } from '@grpc/grpc-js';
import {
  decodeSpeechChunk,
  encodeSynthesizeCall,
  type SpeechChunk,
  type SynthesizeResponse,
} from '../../contracts/grpc/tts.codec.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { SinkWriter } from './sink-writer.js';
import { type CallRequest, type StartedCall } from './worker-call.js';
import { type WorkerChannel } from './worker-channel.js';
import { type SynthesizeTask, type WorkerReply } from './worker-task.js';

type Done = Extract<SpeechChunk, { kind: 'done' }>;

/** One `Synthesize` RPC: audio flows from the worker into the task's sink with back pressure. */
export class SynthesizeCall implements StartedCall {
  readonly reply: Promise<WorkerReply>;
  readonly finished: Promise<void>;
  readonly sent = true;
  readonly #stream: ClientReadableStream<SynthesizeResponse>;
  readonly #writer: SinkWriter;
  #sinkError: unknown;

  constructor(channel: WorkerChannel, { request, group }: CallRequest, task: SynthesizeTask) {
    const { text, voice, speed, format, sink } = task;
    const { key: requestId, priority } = request;
    const message = encodeSynthesizeCall({ requestId, priority, group, text, voice, speed, format });
    const stream = channel.track(() => channel.tts.synthesize(message));
    this.#writer = new SinkWriter(sink.audio);
    this.#stream = stream;
    // `status` is always emitted, once; a slow reader of the last bytes does not hold the slot.
    this.finished = new Promise(resolve => stream.once('status', () => resolve()));
    this.reply = this.#run(stream, task);
  }

  abandon(): void {
    this.#writer.abandon();
  }

  reset(): void {
    this.#writer.abandon();
    this.#stream.cancel();
  }

  async #run(stream: ClientReadableStream<SynthesizeResponse>, task: SynthesizeTask): Promise<WorkerReply> {
    let succeeded = false;
    try {
      const done = await this.#pump(stream, task);
      if (this.#sinkError !== undefined) throw this.#sinkError as Error;
      if (this.#writer.gone) throw new DomainError('request_cancelled', 'The caller disconnected.');
      if (!done) throw new DomainError('engine_failed', 'The worker ended the audio without reporting it as complete.');
      succeeded = true;
      return { kind: 'speech', durationS: done.durationS, execution: done.execution };
    } finally {
      this.#writer.finish(succeeded);
    }
  }

  /** Reads to the end even when the sink has closed: stopping early would leave the call open. */
  async #pump(stream: AsyncIterable<SynthesizeResponse>, task: SynthesizeTask): Promise<Done | undefined> {
    let done: Done | undefined;
    for await (const message of stream) {
      const chunk = decodeSpeechChunk(message);
      if (chunk?.kind === 'audio') await this.#writer.write(chunk.bytes);
      else if (chunk?.kind === 'header') this.#header(chunk, task);
      else if (chunk) done = chunk;
    }
    return done;
  }

  #header(chunk: Extract<SpeechChunk, { kind: 'header' }>, task: SynthesizeTask): void {
    if (this.#writer.gone) return;
    try {
      task.sink.header({ contentType: chunk.contentType, sampleRate: chunk.sampleRate });
    } catch (error) {
      this.#sinkError = error;
      this.#writer.abandon();
    }
  }
}
