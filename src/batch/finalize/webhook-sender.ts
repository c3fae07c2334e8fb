import { Injectable, Logger } from '@nestjs/common';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { pause } from '@switchyard/engine-api/process/pause.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type OutboxEntry } from '../../core/jobs/job.ports.js';
import { Settings } from '../../platform/config/settings.js';
import { WebhookOutbox } from '../../platform/database/webhook-outbox.js';
import { HostExceptions } from '../../platform/http/host-exceptions.js';
import { postWebhook, webhookSecret } from '../../platform/webhooks/webhook-post.js';
import { JobMetrics } from '../observe/job.metrics.js';

/**
 * Timeout of a receiver, and how long a claimed entry is hidden from other processors.
 */
const ATTEMPT_MS = 15_000;
const HIDE_MS = 60_000;
const MAX_PER_ROUND = 10;
/**
 * Pauses after each failed attempt: 5 s, 30 s, 5 min, 30 min, 2 h, 5 h, 10 h.
 */
const PAUSES_S = [5, 30, 300, 1800, 7200, 18_000, 36_000];
/** After the last pause: about a day, in which a receiver that is coming back has come back. */
const ATTEMPTS = PAUSES_S.length + 1;

/**
 * Sends webhooks from the outbox, each at least once. Receivers detect
 * repeats by `webhook-id`.
 */
@Injectable()
export class WebhookSender {
  readonly #logger = new Logger('BatchWebhooks');
  readonly #stop = new AbortController();
  readonly #secret: Buffer | undefined;
  readonly #exceptions: HostExceptions;
  #running: Promise<void> | undefined;

  /** @throws ConfigError for an unusable secret file */
  constructor(
    private readonly settings: Settings,
    private readonly outbox: WebhookOutbox,
    private readonly metrics: JobMetrics,
  ) {
    const { batch } = settings;
    this.#secret = webhookSecret(batch.webhookSecretFile);
    this.#exceptions = new HostExceptions(batch.webhookAllowHosts);
  }

  /** Nothing is sent unsigned: without a secret, other processors send. */
  start(): void {
    if (this.#secret) this.#running ??= this.#run(this.#secret);
  }

  /** An aborted attempt is repeated by the next processor that looks. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(secret: Buffer): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#round(secret).catch((error: unknown) =>
        this.#logger.warn({ err: error }, 'the webhook outbox does not respond'),
      );
      await pause(this.settings.batch.pollMs, signal);
    }
  }

  async #round(secret: Buffer): Promise<void> {
    const due = await this.outbox.claim(Date.now(), HIDE_MS, MAX_PER_ROUND);
    await Promise.all(due.map(entry => this.#send(entry, secret)));
  }

  async #send(entry: OutboxEntry, secret: Buffer): Promise<void> {
    const problem = await this.#attempt(entry, secret);
    if (this.#stop.signal.aborted && problem !== undefined)
      return this.outbox.retry(entry.id, Date.now());
    const { id, jobId: batch, type, attempts } = entry;
    const isLast = problem?.final === true || attempts >= ATTEMPTS;
    const outcome = !problem ? 'sent' : isLast ? 'given_up' : 'retry';
    const [level, text] = LOG_LINES[outcome];
    this.metrics.webhook(outcome);
    this.#logger[level]({ batch, type, attempts, reason: problem?.reason }, text);
    return outcome === 'retry'
      ? this.outbox.retry(id, Date.now() + pauseMs(attempts))
      : this.outbox.remove(id);
  }

  /** @returns undefined on success. `final`: a retry would fail as well */
  async #attempt(
    entry: OutboxEntry,
    secret: Buffer,
  ): Promise<{ reason: string; final: boolean } | undefined> {
    const body = bodyOf(entry);
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(ATTEMPT_MS)]);
    try {
      const status = await postWebhook({
        url: entry.url,
        id: entry.id,
        body,
        secret,
        exceptions: this.#exceptions,
        signal,
      });
      // 410: the receiver asks for no further attempts.
      return status >= 200 && status < 300
        ? undefined
        : { reason: `status ${status}`, final: status === 410 };
    } catch (error) {
      const refused = error instanceof DomainError && error.code === 'file_url_refused';
      return {
        reason: refused ? 'its address is not allowed' : (error as Error).message,
        final: refused,
      };
    }
  }
}

const LOG_LINES = {
  sent: ['log', 'webhook sent'],
  given_up: ['error', 'webhook given up'],
  retry: ['warn', 'webhook failed; will retry'],
} as const;

/** The format of OpenAI's webhook events. */
const bodyOf = ({ id, type, jobId, createdAtMs }: OutboxEntry): string =>
  writeJson({
    id,
    object: 'event',
    created_at: Math.floor(createdAtMs / 1000),
    type,
    data: { id: jobId },
  });

/** Adds up to 10 % jitter. @param attempts so far */
const pauseMs = (attempts: number): number =>
  PAUSES_S[attempts - 1]! * 1000 * (1 + Math.random() / 10);
