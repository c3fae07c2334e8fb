import { gapBetween } from '../../contracts/formats/joined-text.js';
import { SSE_DONE, sseData } from '../../contracts/formats/server-sent-event.js';
import {
  segmentEvents,
  textDone,
  transcriptEvents,
} from '../../contracts/formats/transcript-events.js';
import {
  type TokenLogprob,
  type Transcript,
  type TranscriptSegment,
} from '@switchyard/engine-api/transcript.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { OutputStream } from '../inference/output-stream.js';

interface TranscriptStreamOptions {
  /** Send `transcript.text.segment` after each delta. */
  readonly diarized: boolean;
  /** Converts the spoken text of a segment to its written form. */
  readonly write: (spoken: string) => string;
}

/**
 * A transcript as OpenAI's events: one delta per segment when it is final, one done,
 * `[DONE]`. The joined deltas are the text of `done`. What a slow reader has not received
 * is text, bounded by the length of the audio.
 */
export class TranscriptStream extends OutputStream {
  #text = '';
  /** Number of the next segment to send. */
  #next = 0;

  constructor(private readonly options: TranscriptStreamOptions) {
    super();
  }

  /**
   * A second worker that starts over after the first one's death repeats segments; those
   * are left out.
   */
  readonly segment = (
    segment: TranscriptSegment,
    logprobs: readonly TokenLogprob[],
  ): void => {
    if (segment.id < this.#next) return;
    this.#next = segment.id + 1;
    const { diarized, write } = this.options;
    const written = { ...segment, text: write(segment.text).trim() };
    if (written.text === '') return;
    const delta = gapBetween(this.#text, written.text) + written.text;
    this.#text += delta;
    this.#send(
      segmentEvents(written, {
        delta,
        diarized,
        ...(logprobs.length > 0 && { logprobs }),
      }),
    );
  };

  /**
   * @param transcript in its written form; if segments were sent before, their text is
   *   used instead of its own
   * @param deviceMs what it cost
   */
  finish(transcript: Transcript, deviceMs?: number): void {
    if (this.#text === '')
      this.#send(transcriptEvents(transcript, { ...this.options, deviceMs }));
    else this.#send([textDone({ ...transcript, text: this.#text }, deviceMs)]);
    this.body.end();
  }

  protected format(frame: Buffer): Buffer {
    return frame;
  }

  protected lastFrame(failure: DomainError | undefined): string {
    return failure ? sseData(errorEnvelope(failure)) : SSE_DONE;
  }

  #send(events: readonly object[]): void {
    for (const event of events) this.body.write(sseData(event));
  }
}
