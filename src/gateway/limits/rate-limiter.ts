import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Subscription } from 'rxjs';
import { type WorkUsage } from '../../core/dispatch/dispatch-event.js';
import {
  LIMIT_NAMES,
  type LimitName,
  type Limits,
  type RateLimitStatus,
  type RateLimitRefusal,
} from '../../core/limits/limit-rules.js';
import { type LimitAdmission, type LimitStore, SLOT_LEASE_MS } from '../../core/limits/limit-store.port.js';
import { type RequestKey, requestKey } from '../../core/request/request-key.js';
import { SlotMap } from '../../core/shared/slot-map.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { INTERNAL_KEY_ID } from '../../platform/auth/internal-tokens.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { type Principal } from '../../platform/auth/principal.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { LIMIT_STORE } from './limit.tokens.js';
import { LimitEvents } from './limits.metrics.js';

const WORDS: Readonly<Record<LimitName, string>> = {
  requestsPerDay: 'requests per day',
  requestsPerMinute: 'requests per minute',
  tokensPerMinute: 'tokens per minute',
  audioSecondsPerMinute: 'seconds of audio per minute',
  concurrentRequests: 'requests at the same time',
};

/** `rate_limit_exceeded` says when to come back; `insufficient_quota`, which SDKs must not retry, that the day's share is used up. */
export function limitError({ limit, retryAfterMs }: RateLimitRefusal, limits: Limits): DomainError {
  const what = `${limits[limit]} ${WORDS[limit]}`;
  if (limit === 'requestsPerDay') {
    const at = new Date(Date.now() + retryAfterMs).toISOString().slice(0, 16);
    return new DomainError('insufficient_quota', `The quota of ${what} is used up; it is new at ${at}Z.`);
  }
  const seconds = Math.ceil(retryAfterMs / 1000);
  return new DomainError('rate_limit_exceeded', `The limit of ${what} is reached; try again in ${seconds} s.`, {
    retryAfterMs,
  });
}

/** Somebody who was let in, until `leave`. */
export interface Ticket {
  readonly standing: RateLimitStatus;
  /** Adds to what it used. */
  charge(usage: WorkUsage): void;
  /** Idempotent. */
  leave(): void;
}

/**
 * Lets callers in within their limits. Who has no limit costs nothing: no account, no header, no call to Redis. Our own
 * processes are not counted: lines of batches are bounded by the batch processor (OpenAI counts them apart as well).
 */
@Injectable()
export class RateLimiter implements OnModuleInit, OnApplicationShutdown {
  readonly #defaults: Limits;
  /** By key of the request; a second one under the same key has no work of its own. */
  readonly #inside = new SlotMap<RequestKey, Set<LimitAdmission>>();
  /** Tickets of other gateways have other names. */
  readonly #name = randomUUID();
  #tickets = 0;
  #events: Subscription | undefined;
  #renewal: NodeJS.Timeout | undefined;

  constructor(
    @Inject(SETTINGS) { limits }: Settings,
    private readonly keys: KeyRing,
    @Inject(LIMIT_STORE) private readonly store: LimitStore,
    private readonly bus: DispatchEventBus,
    private readonly told: LimitEvents,
  ) {
    this.#defaults = limits;
  }

  /** Work is charged when it is done, to whoever is still inside under the id of the request. */
  onModuleInit(): void {
    this.#events = this.bus.events$.subscribe(event => {
      if (event.type === 'settled' && event.usage) this.#charge(event.key, event.usage);
    });
    this.#renewal = setInterval(() => this.#renew(), SLOT_LEASE_MS / 3).unref();
  }

  onApplicationShutdown(): void {
    this.#events?.unsubscribe();
    clearInterval(this.#renewal);
  }

  /**
   * Undefined: no limits concern this caller.
   * @param id of the request whose work is charged by itself
   * @param told what is known of the standing, also when it refuses
   * @throws DomainError `rate_limit_exceeded`, `insufficient_quota`
   */
  async enter(
    principal: Principal,
    id: string,
    told: (standing: RateLimitStatus) => void = () => undefined,
  ): Promise<Ticket | undefined> {
    const account = this.#accountOf(principal);
    if (!account) return undefined;
    const entrance = { ...account, ticket: `${this.#name}.${++this.#tickets}` };
    const { refusal, status } = await this.store.admit(entrance);
    told(status);
    if (refusal) {
      this.told.refused(refusal.limit);
      throw limitError(refusal, account.limits);
    }
    const key = requestKey({ tenant: principal.tenant, id });
    const others = this.#inside.get(key) ?? new Set<LimitAdmission>();
    this.#inside.set(key, others.add(entrance));
    return {
      standing: status,
      charge: usage => void this.store.charge(entrance, spentOf(usage)),
      leave: () => this.#leave(key, entrance),
    };
  }

  #accountOf({ keyId, tenant }: Principal): Pick<LimitAdmission, 'subject' | 'limits'> | undefined {
    if (keyId === INTERNAL_KEY_ID) return undefined;
    const own = keyId === undefined ? undefined : this.keys.limitsOf(keyId);
    const limits = { ...this.#defaults, ...own };
    if (LIMIT_NAMES.every((name: LimitName) => limits[name] === 0)) return undefined;
    return { limits, subject: own ? `key:${keyId}` : `tenant:${tenant}` };
  }

  #charge(key: RequestKey, usage: WorkUsage): void {
    const [entrance] = this.#inside.get(key) ?? [];
    if (entrance) void this.store.charge(entrance, spentOf(usage));
  }

  #leave(key: RequestKey, entrance: LimitAdmission): void {
    const inside = this.#inside.get(key);
    if (!inside?.delete(entrance)) return;
    if (inside.size === 0) this.#inside.delete(key);
    void this.store.release(entrance);
  }

  #renew(): void {
    const inside = [...this.#inside.values()].flatMap(entrances => [...entrances]);
    if (inside.length > 0) void this.store.renew(inside);
  }
}

const spentOf = ({ tokens = 0, audioSeconds = 0 }: WorkUsage) => ({ tokens, audioSeconds });
