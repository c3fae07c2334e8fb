import { type FastifyReply } from 'fastify';
import { SSE_CONTENT_TYPE } from '../../contracts/formats/server-sent-event.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { OutputStream } from '../inference/output-stream.js';
import { type GenerationOutput } from '../worker-pool/worker-task.js';

/** How a generation is written for its reader. */
export interface OutputForm {
  /** Default: server-sent events. */
  readonly contentType?: string;
  /** @param json a chunk of the answer, as the engine made it */
  format(json: Buffer): Buffer | string;
  /** May wait, for what has to be done before the reader sees the end. */
  lastFrame(
    failure: DomainError | undefined,
  ): string | undefined | Promise<string | undefined>;
}

/** Output of a generation on its way to one reader. */
export class GenerationOutputStream extends OutputStream implements GenerationOutput {
  readonly chunks = this.body;

  constructor(
    private readonly form: OutputForm,
    maxBufferedBytes: number,
  ) {
    super(maxBufferedBytes);
  }

  begin(): void {
    // Nothing to prepare. The scheduler notes it: this request is not sent again.
  }

  protected format(json: Buffer): Buffer | string {
    return this.form.format(json);
  }

  protected lastFrame(failure: DomainError | undefined) {
    return this.form.lastFrame(failure);
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
