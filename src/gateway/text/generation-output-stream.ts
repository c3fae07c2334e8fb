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
  readonly contentType: string = SSE_CONTENT_TYPE;

  begin(): void {
    // Nothing to prepare. The scheduler notes it: this request is not sent again.
  }
}

/** Output as it comes, which no proxy may keep or collect. */
export const sendEvents = (
  reply: FastifyReply,
  headers: Record<string, string>,
  events: NodeJS.ReadableStream,
  contentType: string = SSE_CONTENT_TYPE,
): void =>
  void reply
    .headers({ ...headers, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
    .type(contentType)
    .send(events);
