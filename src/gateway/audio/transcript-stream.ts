import { PassThrough, type Readable } from 'node:stream';
import { gapBetween } from '../../contracts/formats/joined-text.js';
import { SSE_DONE, sseData } from '../../contracts/formats/server-sent-event.js';
import { segmentEvents, textDone, transcriptEvents } from '../../contracts/formats/transcript-events.js';
import { type TokenLogprob, type Transcript, type TranscriptSegment } from '../../contracts/formats/transcript.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { type DomainError } from '../../core/shared/domain-error.js';

export interface TranscriptStreamOptions {
  /** With `transcript.text.segment` after each delta. */
  readonly diarized: boolean;
  /** What segments are written as. */
  readonly write: (spoken: string) => string;
}

/**
 * A transcript on its way to one caller as OpenAI's events: a delta for each segment when it is final, one done, `[DONE]`. The
 * deltas joined are the text of done. What a slow reader has not taken is text, bounded by the length of the audio.
 */
export class TranscriptStream {
  readonly #frames = new PassThrough();
  /** Resolves at the first event. */
  readonly started: Promise<void>;
  #start!: () => void;
  #text = '';
  /** Number of the segment that is told next. */
  #next = 0;

  constructor(private readonly options: TranscriptStreamOptions) {
    this.started = new Promise(resolve => (this.#start = resolve));
    // A caller that left destroys the stream; whoever still writes learns that from the cancel.
    this.#frames.on('error', () => undefined);
  }

  get body(): Readable {
    return this.#frames;
  }

  /** A second worker that began anew after the first one's death says again what is told already: it is left out. */
  readonly segment = (segment: TranscriptSegment, logprobs: readonly TokenLogprob[]): void => {
    if (segment.id < this.#next) return;
    this.#next = segment.id + 1;
    const { diarized, write } = this.options;
    const written = { ...segment, text: write(segment.text).trim() };
    if (written.text === '') return;
    const delta = gapBetween(this.#text, written.text) + written.text;
    this.#text += delta;
    this.#send(segmentEvents(written, { delta, diarized, ...(logprobs.length > 0 && { logprobs }) }));
  };

  /** @param transcript as written; when segments were told before, their text is the one that counts. */
  finish(transcript: Transcript): void {
    if (this.#text === '') this.#send(transcriptEvents(transcript, this.options));
    else this.#send([textDone({ ...transcript, text: this.#text })]);
    this.#frames.end(SSE_DONE);
    this.#start();
  }

  /** After the first event the error is an event too: the status is out. */
  fail(error: DomainError): void {
    this.#frames.end(sseData(errorEnvelope(error)));
  }

  #send(events: readonly object[]): void {
    for (const event of events) this.#frames.write(sseData(event));
    this.#start();
  }
}
