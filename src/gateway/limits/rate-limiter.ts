import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { SlotMap } from '@switchyard/engine-api/slot-map.js';
import { type WorkUsage } from '../../core/dispatch/dispatch-event.js';
import { DomainError } from '../../core/errors/domain-error.js';
import {
  LIMIT_NAMES,
  type Limits,
  type RateLimitRefusal,
  type RateLimitStatus,
} from '../../core/limits/limit-rules.js';
import {
  type LimitAdmission,
  type LimitStore,
  SLOT_LEASE_MS,
} from '../../core/limits/limit-store.port.js';
import { type RequestKey, requestKey } from '../../core/request/request-key.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { type Principal } from '../../platform/auth/principal.js';
import { INTERNAL_KEY_ID } from '../../platform/auth/short-lived-tokens.js';
import { Settings } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { Forecasts } from '../queue/forecasts.js';
import { LimitEvents } from './limits.metrics.js';

/** Injection token of the `LimitStore` that the settings choose. */
export const LIMIT_STORE = Symbol('LIMIT_STORE');

/** Most requests of a caller whose ends are forecast for the `Retry-After` of a refusal. */
const MOST_FORECAST = 16;

const WORDS: Readonly<Record<keyof Limits, string>> = {
  requestsPerDay: 'requests per day',
  requestsPerMinute: 'requests per minute',
  tokensPerMinute: 'tokens per minute',
  audioSecondsPerMinute: 'seconds of audio per minute',
  concurrentRequests: 'requests at the same time',
};

/**
 * `rate_limit_exceeded` says when to retry; `insufficient_quota`, which SDKs must not
 * retry, that the day's quota is used up.
 */
function limitError({ limit, retryAfterMs }: RateLimitRefusal, limits: Limits): DomainError {
  const what = `${limits[limit]} ${WORDS[limit]}`;
  if (limit === 'requestsPerDay') {
    const at = new Date(Date.now() + retryAfterMs).toISOString().slice(0, 16);
    return new DomainError(
      'insufficient_quota',
      `The quota of ${what} is used up; it resets at ${at}Z.`,
    );
  }
  const seconds = Math.ceil(retryAfterMs / 1000);
  return new DomainError(
    'rate_limit_exceeded',
    `The limit of ${what} is reached; try again in ${seconds} s.`,
    {
      retryAfterMs,
    },
  );
}

const limitsAnything = (limits: Limits): boolean => LIMIT_NAMES.some(name => limits[name] !== 0);

/** An admitted request or session, until `leave`. */
export interface Ticket {
  /** Adds to the usage. */
  charge(usage: WorkUsage): void;
  /** Idempotent. */
  leave(): void;
}

/**
 * Admits callers within their limits. A caller without limits costs nothing: no account,
 * no header, no call to Redis. Internal requests are not counted: batch lines are bounded
 * by the batch processor (OpenAI counts them separately too).
 */
@Injectable()
export class RateLimiter implements OnModuleInit, OnApplicationShutdown {
  readonly #defaults: Limits;
  /** Whether `limits.*` limit nothing, so that only keys with own limits are counted. */
  readonly #isFree: boolean;
  /** By request key. A second request under the same key does no work of its own. */
  readonly #admitted = new SlotMap<RequestKey, Set<LimitAdmission>>();
  /**
   * Keys in there by subject, oldest first: a refusal costs the same however many
   * others are inside.
   */
  readonly #keysOf = new Map<string, Set<RequestKey>>();
  /** Makes tickets unique among gateways. */
  readonly #name = randomUUID();
  #tickets = 0;
  #renewal: NodeJS.Timeout | undefined;

  constructor(
    { limits }: Settings,
    private readonly keys: KeyRing,
    @Inject(LIMIT_STORE) private readonly store: LimitStore,
    private readonly bus: DispatchEventBus,
    private readonly limitEvents: LimitEvents,
    private readonly forecasts: Forecasts,
  ) {
    this.#defaults = limits;
    this.#isFree = !limitsAnything(limits);
  }

  /** Work is charged when it settles, to the admission under the request's key. */
  onModuleInit(): void {
    this.bus.on('settled', ({ key, usage }) => {
      const [admission] = this.#admitted.get(key) ?? [];
      if (usage && admission) void this.store.charge(admission, spentOf(usage));
    });
    this.#renewal = setInterval(() => this.#renew(), SLOT_LEASE_MS / 3).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.#renewal);
  }

  /**
   * Undefined: the caller has no limits.
   * @param id of the request; its work is charged automatically
   * @param onStatus receives the limit status, also when the request is rejected
   * @throws DomainError `rate_limit_exceeded`, `insufficient_quota`
   */
  enter(
    { keyId, tenant }: Principal,
    id: string,
    onStatus: (status: RateLimitStatus) => void = () => undefined,
  ): Promise<Ticket> | undefined {
    if (keyId === INTERNAL_KEY_ID) return undefined;
    const own = keyId === undefined ? undefined : this.keys.limitsOf(keyId);
    if (!own && this.#isFree) return undefined;
    const limits = { ...this.#defaults, ...own };
    if (!limitsAnything(limits)) return undefined;
    const subject = own ? `key:${keyId}` : `tenant:${tenant}`;
    const ticket = `${this.#name}.${++this.#tickets}`;
    return this.#admit({ subject, limits, ticket }, requestKey({ tenant, id }), onStatus);
  }

  async #admit(
    admission: LimitAdmission,
    key: RequestKey,
    onStatus: (status: RateLimitStatus) => void,
  ): Promise<Ticket> {
    const { subject, limits } = admission;
    const { refusal, status } = await this.store.admit(admission);
    onStatus(status);
    if (refusal) {
      this.limitEvents.refused(refusal.limit);
      const { limit, retryAfterMs } = refusal;
      const freeInMs = limit === 'concurrentRequests' ? this.#freeInMs(subject) : 0;
      throw limitError({ limit, retryAfterMs: Math.max(retryAfterMs, freeInMs) }, limits);
    }
    const others = this.#admitted.get(key) ?? new Set<LimitAdmission>();
    this.#admitted.set(key, others.add(admission));
    this.#keysOf.set(subject, (this.#keysOf.get(subject) ?? new Set()).add(key));
    return {
      charge: usage => void this.store.charge(admission, spentOf(usage)),
      leave: () => this.#leave(key, admission),
    };
  }

  /**
   * When the first of its requests here should end (D-27): one of the oldest. 0: unknown.
   */
  #freeInMs(subject: string): number {
    const oldest = this.#keysOf.get(subject)?.values().take(MOST_FORECAST) ?? [];
    const firstMs = Math.min(...oldest.map(key => this.forecasts.of(key)?.endInMs.p50 ?? Infinity));
    return firstMs < Infinity ? firstMs : 0;
  }

  #leave(key: RequestKey, admission: LimitAdmission): void {
    const inside = this.#admitted.get(key);
    if (!inside?.delete(admission)) return;
    if (inside.size === 0) this.#admitted.delete(key);
    const keys = this.#keysOf.get(admission.subject);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysOf.delete(admission.subject);
    void this.store.release(admission);
  }

  #renew(): void {
    const inside = [...this.#admitted.values()].flatMap(admissions => [...admissions]);
    if (inside.length > 0) void this.store.renew(inside);
  }
}

const spentOf = ({ tokens = 0, audioSeconds = 0 }: WorkUsage) => ({
  tokens,
  audioSeconds,
});
