import { type Arrival } from '../../../core/iteration/aging-key.js';
import { type JobRun, needsAnotherTry, temperatureLadder, type WindowResult } from './transcription-job.js';
import { type RowOf } from './kv-batches.js';
import { applyRules, drawOf, sampleToken } from './token-sampling.js';
import { type WhisperVocabulary } from './vocabulary.js';
import { type AlignedWord } from './word-alignment.js';

/** One window of one job, from its encoder run to its accepted text: a sequence of the iteration scheduler. */
export class WindowTask implements Arrival {
  readonly priorityClass = 0;
  readonly arrivalMs: number;
  /** Encoder states; undefined until encoded. */
  hidden: RowOf | undefined;
  /** Prompt up to and including the task token, as it is prefilled. */
  prompt: readonly number[] = [];
  words: readonly AlignedWord[] = [];
  readonly #ladder: readonly number[];
  #attempt = 0;
  #tokens: number[] = [];
  #logprobs: number[] = [];
  #sumLogprob = 0;
  #noSpeechProb = 0;

  constructor(
    readonly job: JobRun,
    readonly fromFrame: number,
    private readonly vocabulary: WhisperVocabulary,
    /** Longest sequence of the decoder. */
    private readonly positions: number,
  ) {
    this.arrivalMs = job.arrivalMs;
    this.#ladder = temperatureLadder(job.request.temperature);
  }

  /** Fed to the decoder next. */
  get lastToken(): number {
    return this.#tokens.at(-1) ?? this.vocabulary.endToken;
  }

  /** Tokens in the cache once the prompt, and all sampled tokens but the last, are in it. */
  get cached(): number {
    return this.prompt.length + this.#tokens.length - 1;
  }

  /** Starts an attempt: the prompt is in the cache. */
  begin(noSpeechProb: number): void {
    this.#tokens = [];
    this.#logprobs = [];
    this.#sumLogprob = 0;
    this.#noSpeechProb = noSpeechProb;
  }

  /** Takes the scores after the last token and chooses the next; changes `scores`. True when this attempt is over. */
  take(scores: Float32Array): boolean {
    applyRules(scores, this.#tokens, this.vocabulary);
    const random = (): number => drawOf(this.fromFrame, this.#attempt, this.#tokens.length);
    const { token, logprob } = sampleToken(scores, this.#temperature, random);
    this.#sumLogprob += logprob;
    if (token === this.vocabulary.endToken) return true;
    this.#tokens.push(token);
    this.#logprobs.push(logprob);
    // The reference's bounds: half of the decoder's positions per window, and never more than there are.
    return this.#tokens.length >= this.positions / 2 || this.cached + 1 >= this.positions;
  }

  /** After an attempt that did not do: the next temperature. False when there is none, or none is needed. */
  tryAgain(): boolean {
    if (this.#attempt + 1 >= this.#ladder.length || !needsAnotherTry(this.result)) return false;
    this.#attempt += 1;
    return true;
  }

  get result(): WindowResult {
    return {
      tokens: this.#tokens,
      logprobs: this.#logprobs,
      text: this.vocabulary.decode(this.#tokens),
      temperature: this.#temperature,
      avgLogprob: this.#sumLogprob / (this.#tokens.length + 1),
      noSpeechProb: this.#noSpeechProb,
    };
  }

  get #temperature(): number {
    return this.#ladder[this.#attempt] ?? 0;
  }
}
