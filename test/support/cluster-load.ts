import { syntheticText } from '../../src/worker/engines/synthetic/text.js';
import { pause } from './waiting.js';

/** What a client does when it is not told no: as SDKs, with the same id. */
const RETRIED = [408, 409, 429, 500, 502, 503, 504];
const RETRY_MS = 100;
/** What the engine is told of a request that says nothing else: task, language, prompt, temperature. */
const CONDITIONS = ['transcribe', '', '', '0'];
/** A client that has no answer by then is stuck. */
const STUCK_MS = 120_000;

interface Answer {
  readonly id: string;
  readonly content: string;
  readonly text: string;
  readonly attempts: number;
}

/**
 * Callers who always have one request at the cluster, each with an id and a content of its own, sent again until it is
 * answered.
 * What they were answered is kept, to be compared with what they asked.
 */
export class ClusterLoad {
  readonly answers: Answer[] = [];
  /** Ids that got no answer in two minutes, or one that no retry can change. */
  readonly lost: string[] = [];
  readonly ids: string[] = [];
  #stopping = false;
  readonly #callers: readonly Promise<void>[];

  constructor(
    private readonly url: string,
    callers: number,
  ) {
    this.#callers = Array.from({ length: callers }, (_, index) => this.#call(index));
  }

  /** No new requests; resolves when all have their answers. */
  async finish(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#callers);
  }

  /** Ids whose answer was another request's, or none of ours. */
  get wrong(): string[] {
    return this.answers
      .filter(({ content, text }) => text !== syntheticText(Buffer.from(content), CONDITIONS))
      .map(({ id }) => id);
  }

  get retries(): number {
    return this.answers.reduce((sum, { attempts }) => sum + attempts - 1, 0);
  }

  async #call(caller: number): Promise<void> {
    for (let number = 0; !this.#stopping; number += 1) {
      const id = `chaos-${caller}-${number}`;
      this.ids.push(id);
      await this.#ask(id, `audio of ${id}`, number % 3 === 0 ? 'realtime' : 'batch');
    }
  }

  async #ask(id: string, content: string, priority: string): Promise<void> {
    for (
      const [endMs, attempt] = [performance.now() + STUCK_MS, { number: 1 }];
      performance.now() < endMs;
      attempt.number++
    ) {
      const answer = await this.#attempt(id, content, priority);
      if (answer?.status === 200) {
        const { text } = (await answer.json().catch(() => ({}))) as { text?: string };
        if (text !== undefined) return void this.answers.push({ id, content, text, attempts: attempt.number });
      } else if (answer && !RETRIED.includes(answer.status)) {
        return void this.lost.push(`${id}: ${answer.status} ${await answer.text()}`);
      } else await answer?.arrayBuffer().catch(() => undefined);
      await pause(RETRY_MS);
    }
    this.lost.push(`${id}: stuck`);
  }

  /** Undefined: no answer came. */
  #attempt(id: string, content: string, priority: string): Promise<Response | undefined> {
    const form = new FormData();
    form.set('file', new Blob([content]), 'clip.wav');
    form.set('model', 'synthetic');
    const headers = { 'x-request-id': id, 'x-priority': priority, connection: 'close' };
    const init = { method: 'POST', body: form, headers, signal: AbortSignal.timeout(30_000) };
    return fetch(`${this.url}/v1/audio/transcriptions`, init).catch(() => undefined);
  }
}
