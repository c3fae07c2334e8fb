import { type FastifyReply } from 'fastify';
import { SSE_CONTENT_TYPE } from '../../contracts/formats/server-sent-event.js';
import { OutputStream } from '../inference/output-stream.js';
import { type GenerationOutput } from '../worker-pool/worker-task.js';

/** Output of a generation on its way to one reader. */
export abstract class GenerationOutputStream
  extends OutputStream
  implements GenerationOutput
{
  readonly chunks = this.body;

  begin(): void {
    // Nothing to prepare. The scheduler notes it: this request is not sent again.
  }
}

/** Server-sent events, which no proxy may keep or collect. */
export const sendEvents = (
  reply: FastifyReply,
  headers: Record<string, string>,
  events: NodeJS.ReadableStream,
): void =>
  void reply
    .headers({ ...headers, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
    .type(SSE_CONTENT_TYPE)
    .send(events);
