import { type RequestKey } from '../request/request-key.js';

/**
 * When the beginning of an utterance is recognised while it is being spoken: one pass at a
 * time, only while nothing else waits for the model, and after enough new speech. Silence
 * starts none. Positions are seconds of the stream.
 */
export class InterimSchedule {
  #heardToS = 0;
  #isRunning = false;

  /** @param everyS speech that must be new since the last pass, or since it began */
  constructor(private readonly everyS: number) {}

  began(atS: number): void {
    this.#heardToS = atS;
  }

  /** True: a pass begins now; `ended` follows. */
  begins(fromS: number, spokenToS: number, isIdle: () => boolean): boolean {
    if (this.#isRunning || spokenToS - Math.max(fromS, this.#heardToS) < this.everyS) return false;
    this.#isRunning = isIdle();
    if (this.#isRunning) this.#heardToS = spokenToS;
    return this.#isRunning;
  }

  ended(): void {
    this.#isRunning = false;
  }
}

/** The passes of a gateway, from their begin to their end: all else of their model goes first. */
export class RunningPasses {
  readonly #models = new Map<RequestKey, string>();

  began(key: RequestKey, model: string): void {
    this.#models.set(key, model);
  }

  ended(key: RequestKey): void {
    this.#models.delete(key);
  }

  /** A request was accepted: those that end for it. A pass displaces none. */
  displacedBy(accepted: { readonly key: RequestKey; readonly model: string }): RequestKey[] {
    if (this.#models.has(accepted.key)) return [];
    const passes = [...this.#models];
    return passes.flatMap(([key, model]) => (model === accepted.model ? [key] : []));
  }
}
