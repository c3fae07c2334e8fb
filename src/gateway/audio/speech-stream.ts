import { type Readable } from 'node:stream';
import { sseData } from '../../contracts/formats/server-sent-event.js';
import { speechDelta, speechDone } from '../../contracts/formats/speech.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { OutputStream, UNCHANGED } from '../inference/output-stream.js';
import { type SettledRequest } from '../scheduler/submitted-request.js';
import { type SpeechSink } from '../worker-pool/worker-task.js';

/**
 * Synthesised audio as it is made. A failure destroys the stream: the caller must not
 * take the audio as complete.
 */
export class SpeechStream extends OutputStream implements SpeechSink {
  readonly audio = this;
  #hasAudio = false;

  constructor(maxBufferedBytes: number) {
    super(UNCHANGED, maxBufferedBytes);
  }

  /**
   * Called when a worker begins. After audio was sent, a second worker (a retry) is
   * rejected: the caller would hear the sentence start over.
   * @throws DomainError `worker_lost`
   */
  header(): void {
    if (this.#hasAudio)
      throw new DomainError(
        'worker_lost',
        'The worker died in the middle of the speech.',
      );
  }

  override fail(error: DomainError): void {
    this.destroy(error);
  }

  override _writev(...args: Parameters<OutputStream['_writev']>): void {
    this.#hasAudio = true;
    super._writev(...args);
  }
}

/**
 * `stream_format: sse`: one delta per piece of audio, then `done`, or the error envelope
 * if the synthesis fails.
 */
export async function* speechEvents(
  audio: Readable,
  settled: Promise<SettledRequest>,
): AsyncGenerator<string> {
  try {
    for await (const chunk of audio) yield speechDelta(chunk as Buffer);
  } catch {
    // The stream breaks because the request failed; the settlement says why.
  }
  const { settlement } = await settled;
  if (settlement.status !== 'completed') yield sseData(errorEnvelope(settlement.error));
  else
    yield speechDone(settlement.reply.kind === 'speech' ? settlement.reply.durationS : 0);
}
