import { type ClientUnaryCall } from '@grpc/grpc-js';
import { decodeEmbedded, encodeEmbedCall, type EmbedResponse } from '../../contracts/grpc/generation.codec.js';
import { type CallRequest, type StartedCall } from './worker-call.js';
import { type WorkerChannel } from './worker-channel.js';
import { type EmbedTask, type WorkerReply } from './worker-task.js';

/** One `Embed` RPC. */
export class EmbedCall implements StartedCall {
  readonly reply: Promise<WorkerReply>;
  readonly finished: Promise<void>;
  readonly sent = true;
  #call: ClientUnaryCall | undefined;

  constructor(channel: WorkerChannel, { request, group }: CallRequest, { body, inputs }: EmbedTask) {
    const { key: requestId, priority, tenant = '' } = request;
    const message = encodeEmbedCall({ requestId, priority, group, body, inputs, tenant });
    this.reply = channel
      .unary<EmbedResponse>(callback => (this.#call = channel.text.embed(message, callback)))
      .then(answer => ({ kind: 'embeddings', ...decodeEmbedded(answer) }));
    this.finished = this.reply.then(
      () => undefined,
      () => undefined,
    );
  }

  abandon(): void {
    // The answer is small and nobody's: it is thrown away.
  }

  reset(): void {
    this.#call?.cancel();
  }
}
