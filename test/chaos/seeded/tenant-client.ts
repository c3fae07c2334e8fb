import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { pause } from '../../support/waiting.js';
import { type Entry, type Ledger } from './ledger.js';

/** As SDKs do, unless `x-should-retry` says no. */
const RETRIED = [408, 409, 429, 500, 502, 503, 504];
export const RETRY_MS = 250;
/** Whatever their prefix is. */
const JOB_IDS = new QueueKeys('');
/** The proxy of a cluster answers in place of a gateway that broke off. */
const GATEWAY_LOST = '"gateway_lost"';
/**
 * One attempt; shorter than the limits of the product, so that callers
 * leave frozen gateways.
 */
export const ATTEMPT_MS = 20_000;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body, and what it says. */
  readonly bytes: Buffer;
  readonly text: string;
}

/** An answer that is none of what was asked for. */
export type Refusal = Omit<Answer, 'bytes'>;

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
}

export interface ClientOptions {
  readonly url: string;
  readonly tenant: string;
  readonly key: string;
  readonly ledger: Ledger;
  /** A caller that has no answer by then is stuck. */
  readonly limitMs: number;
  /** Several gateways have one database. */
  readonly isShared: boolean;
  /** No fault of the plan is one that a caller may notice. */
  readonly isCalm: boolean;
}

/** A caller of one tenant that repeats what may be repeated, as SDKs do. */
export class TenantClient {
  constructor(readonly options: ClientOptions) {}

  get tenant(): string {
    return this.options.tenant;
  }

  get ledger(): Ledger {
    return this.options.ledger;
  }

  get authorization(): { readonly authorization: string } {
    return { authorization: `Bearer ${this.options.key}` };
  }

  /** One attempt. Undefined: no answer, or a part of one. */
  async attempt(path: string, sent: Sent = {}, id?: string): Promise<Answer | undefined> {
    const sinceMs = this.ledger.nowMs;
    const what = `${sent.method ?? 'GET'} ${path} of ${this.tenant}`;
    try {
      const { status, headers, body } = await this.open(path, sent);
      const bytes = Buffer.concat(await Array.fromAsync(body ?? []));
      const answer = { status, headers, bytes, text: bytes.toString() };
      this.noteLost(what, answer, sinceMs);
      return answer;
    } catch (error) {
      if ((error as Error).name === 'TimeoutError' && id !== undefined) this.mayRunAgain(id);
      this.noteUnanswered(what, sinceMs, error);
      return undefined;
    }
  }

  /** The proxy answered in place of a gateway. */
  noteLost(what: string, { text }: Pick<Answer, 'text'>, sinceMs: number): void {
    if (text.includes(GATEWAY_LOST)) this.ledger.noteUnanswered(what, 'broken off', sinceMs);
  }

  /** The caller left, or was told to come again. */
  mayRunAgain(id: string): void {
    this.ledger.mayRunAgain.add(JOB_IDS.job(id, this.tenant));
  }

  noteUnanswered(what: string, sinceMs: number, error?: unknown, isKept = true): void {
    const { name, code, cause } = (error ?? {}) as NodeJS.ErrnoException;
    // Of a WebSocket, and of `fetch`.
    const isRefused = [code, (cause as NodeJS.ErrnoException | undefined)?.code].includes(
      'ECONNREFUSED',
    );
    const broken = isKept ? 'broken off' : 'not kept';
    const how = isRefused ? 'refused' : name === 'TimeoutError' ? 'silent' : broken;
    this.ledger.noteUnanswered(what, how, sinceMs);
  }

  /** One attempt, whose body is still to be read. */
  open(path: string, { headers, ...init }: Sent = {}, signal?: AbortSignal): Promise<Response> {
    this.ledger.attempts += 1;
    return fetch(this.options.url + path, {
      ...init,
      headers: { ...this.authorization, ...headers },
      signal: AbortSignal.any([AbortSignal.timeout(ATTEMPT_MS), ...(signal ? [signal] : [])]),
    });
  }

  /**
   * Attempts until one is answered with 2xx, or with one of the given statuses.
   * @returns undefined when a promise to this caller was broken, which the
   *   ledger then knows
   */
  async answered(
    entry: Entry,
    path: string,
    sent: Sent = {},
    also: readonly number[] = [],
  ): Promise<Answer | undefined> {
    return this.repeated(entry, path, async () => {
      const answer = await this.attempt(path, sent, entry.id);
      if (answer) this.expectCalm(entry, path, { ...answer, attempts: attemptsOf(answer) });
      if (answer && answer.status >= 400) this.mayRunAgain(entry.id);
      if (!answer || answer.status < 300 || also.includes(answer.status)) return answer;
      return this.mayRepeat(entry, path, answer) ? undefined : 'broken';
    });
  }

  /** @param work undefined: once more, in a moment; `broken`: the ledger knows why */
  async repeated<T>(
    entry: Entry,
    what: string,
    work: () => Promise<T | undefined | 'broken'>,
  ): Promise<T | undefined> {
    const endMs = performance.now() + this.options.limitMs;
    while (performance.now() < endMs) {
      const done = await work();
      if (done === 'broken') return undefined;
      if (done !== undefined) return done;
      await pause(RETRY_MS + Math.random() * RETRY_MS);
    }
    this.ledger.violate(
      'stuck',
      entry,
      `no answer to ${what} in ${Math.round(this.options.limitMs / 1000)} s`,
    );
    return undefined;
  }

  /** Where no fault may be noticed, nobody notices one. */
  expectCalm(
    { operation, id }: Entry,
    what: string,
    { status, attempts, text }: Pick<Answer, 'status' | 'text'> & { readonly attempts: number },
  ): void {
    if (!this.options.isCalm) return;
    if (status < 500 && attempts <= 2) return;
    const seen = `${status} after ${attempts} attempts at workers ${status < 500 ? '' : text.slice(0, 300)}`;
    this.ledger.note('visible', `${operation} ${id}: ${what} was answered ${seen}`);
  }

  /** False: no retry helps, so the request is lost. */
  mayRepeat(entry: Entry, what: string, { status, headers, text }: Refusal): boolean {
    const isBug = text.includes('"internal_error"');
    // No retry helps while the disk is full; a person makes room, and asks again.
    if (status === 507) return true;
    if (!isBug && RETRIED.includes(status) && headers.get('x-should-retry') !== 'false')
      return true;
    this.ledger.violate('lost', entry, `${what} was answered ${status} ${text.slice(0, 300)}`);
    return false;
  }
}

/** How often a worker had it. */
const attemptsOf = ({ headers }: Answer): number =>
  Number(headers.get('x-switchyard-attempts') ?? 1);
