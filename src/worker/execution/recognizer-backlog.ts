import { RECOGNISER_RATE } from '../audio/pcm.js';
import { type RecognizerEvent, type RecognizerStream } from '../engines/engine.js';
import { type TellEvent } from './live-stream.js';

/** Audio that may wait for the recogniser before its caller is held up. */
const MOST_WAITING = 2 * RECOGNISER_RATE;

/**
 * Calls to a recogniser's stream, made one after another while voice activity is watched ahead of them. The recogniser hears
 * utterances only, so its clock stands still between them: events leave with the session's times and utterance numbers.
 */
export class RecognizerBacklog {
  #last: Promise<void> = Promise.resolve();
  #failure: Error | undefined;
  #waiting = 0;
  /** Samples the recogniser has been given in all: its own clock. */
  #given = 0;
  #utterance = 0;
  #shiftS = 0;

  constructor(
    private readonly stream: RecognizerStream,
    private readonly tell: TellEvent,
  ) {}

  /** What follows is utterance number `utterance`, from sample `from` of the session. */
  begin(utterance: number, from: number): void {
    this.#utterance = utterance;
    this.#shiftS = (from - this.#given) / RECOGNISER_RATE;
  }

  push(samples: Int16Array): void {
    this.#given += samples.length;
    this.#queue(samples.length, () => this.stream.push(samples));
  }

  commit(): void {
    this.#queue(0, () => this.stream.commit());
  }

  /** Resolves when no more than 2 s of audio wait. @throws what the recogniser threw. */
  async room(): Promise<void> {
    if (this.#waiting > MOST_WAITING) await this.#last;
    this.#throwFailure();
  }

  /** Resolves when all is recognised and told. @throws what the recogniser threw. */
  async done(): Promise<void> {
    await this.#last;
    this.#throwFailure();
  }

  close(): Promise<void> {
    this.#failure ??= new Error('The stream is closed.');
    return this.stream.close();
  }

  #queue(samples: number, call: () => Promise<readonly RecognizerEvent[]>): void {
    const [utterance, shiftS] = [this.#utterance, this.#shiftS];
    this.#waiting += samples;
    this.#last = this.#last.then(async () => {
      try {
        if (this.#failure) return;
        for (const event of await call()) this.tell(inSession(event, utterance, shiftS));
      } catch (error) {
        this.#failure ??= error instanceof Error ? error : new Error(String(error));
      } finally {
        this.#waiting -= samples;
      }
    });
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure;
  }
}

function inSession(event: RecognizerEvent, utterance: number, shiftS: number): RecognizerEvent {
  if (event.type === 'partial') return { ...event, utterance };
  const at = (seconds: number): number => Math.round((seconds + shiftS) * 1000) / 1000;
  const words = event.words.map(word => ({ ...word, start: at(word.start), end: at(word.end) }));
  return { ...event, utterance, start: at(event.start), end: at(event.end), words };
}
