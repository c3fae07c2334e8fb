import { take } from '../../core/limits/cell-rate.js';
import {
  type Charge,
  dayOf,
  type Limits,
  type LimitUse,
  perMinute,
  rateLimitStatusOf,
  refusalOf,
} from '../../core/limits/limit-rules.js';
import {
  type LimitAdmission,
  type AdmissionResult,
  type LimitStore,
  SLOT_LEASE_MS,
} from '../../core/limits/limit-store.port.js';

const UNUSED: LimitUse = {
  requestsPaidMs: 0,
  tokensPaidMs: 0,
  audioPaidMs: 0,
  day: 0,
  dayCount: 0,
  running: 0,
};

interface Account {
  use: LimitUse;
  /** Ticket → time at which its place is released if nobody released it before. */
  readonly places: Map<string, number>;
}

/**
 * Accounts of this process. The oldest are removed when there are too many: made-up
 * tenants cannot fill the memory.
 */
export class LocalLimitStore implements LimitStore {
  readonly #accounts = new Map<string, Account>();

  constructor(
    private readonly nowMs: () => number = () => Date.now(),
    private readonly maxAccounts = 10_000,
  ) {}

  get size(): number {
    return this.#accounts.size;
  }

  admit({ subject, ticket, limits }: LimitAdmission): Promise<AdmissionResult> {
    const nowMs = this.nowMs();
    const account = this.#open(subject, nowMs);
    const refusal = refusalOf(limits, account.use, nowMs);
    if (!refusal) {
      account.places.set(ticket, nowMs + SLOT_LEASE_MS);
      account.use = {
        ...withRequest(limits, account.use, nowMs),
        running: account.places.size,
      };
    }
    return Promise.resolve({
      refusal,
      status: rateLimitStatusOf(limits, account.use, nowMs),
    });
  }

  charge({ subject, limits }: LimitAdmission, spent: Charge): Promise<void> {
    const nowMs = this.nowMs();
    const account = this.#open(subject, nowMs);
    account.use = withCharge(limits, account.use, spent, nowMs);
    return Promise.resolve();
  }

  release({ subject, ticket }: LimitAdmission): Promise<void> {
    this.#accounts.get(subject)?.places.delete(ticket);
    return Promise.resolve();
  }

  renew(admissions: readonly LimitAdmission[]): Promise<void> {
    const untilMs = this.nowMs() + SLOT_LEASE_MS;
    for (const { subject, ticket } of admissions) {
      const places = this.#accounts.get(subject)?.places;
      if (places?.has(ticket)) places.set(ticket, untilMs);
    }
    return Promise.resolve();
  }

  /** Moved to the young end, with the places that are still kept counted anew. */
  #open(subject: string, nowMs: number): Account {
    const account = this.#accounts.get(subject) ?? {
      use: UNUSED,
      places: new Map<string, number>(),
    };
    for (const [ticket, untilMs] of account.places)
      if (untilMs <= nowMs) account.places.delete(ticket);
    account.use = { ...account.use, running: account.places.size };
    this.#accounts.delete(subject);
    this.#makeRoom(nowMs);
    this.#accounts.set(subject, account);
    return account;
  }

  #makeRoom(nowMs: number): void {
    for (const [subject, { use, places }] of this.#accounts) {
      const full = this.#accounts.size >= this.maxAccounts;
      if (!full && !isUnused({ ...use, running: places.size }, nowMs)) return;
      this.#accounts.delete(subject);
    }
  }
}

/** Usage after one more accepted request. The caller counts `running` itself. */
function withRequest(limits: Limits, use: LimitUse, nowMs: number): LimitUse {
  const day = dayOf(nowMs);
  return {
    ...use,
    day,
    dayCount: (use.day === day ? use.dayCount : 0) + 1,
    requestsPaidMs: paid(limits.requestsPerMinute, use.requestsPaidMs, 1, nowMs),
  };
}

function withCharge(
  limits: Limits,
  use: LimitUse,
  { tokens, audioSeconds }: Charge,
  nowMs: number,
): LimitUse {
  return {
    ...use,
    tokensPaidMs: paid(limits.tokensPerMinute, use.tokensPaidMs, tokens, nowMs),
    audioPaidMs: paid(limits.audioSecondsPerMinute, use.audioPaidMs, audioSeconds, nowMs),
  };
}

const paid = (limit: number, paidMs: number, units: number, nowMs: number): number =>
  limit > 0 && units > 0 ? take(perMinute(limit), paidMs, units, nowMs) : paidMs;

/** No debt, nothing running and no count of today: it need not be stored. */
const isUnused = (use: LimitUse, nowMs: number): boolean =>
  use.running === 0 &&
  use.day !== dayOf(nowMs) &&
  Math.max(use.requestsPaidMs, use.tokensPaidMs, use.audioPaidMs) <= nowMs;
