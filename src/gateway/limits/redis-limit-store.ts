import { type Redis } from 'ioredis';
import {
  LIMIT_NAMES,
  type Limits,
  type LimitUse,
  refusalOf,
  type Spent,
  standingOf,
} from '../../core/limits/limit-rules.js';
import {
  type LimitAdmission,
  type Entry,
  type LimitStore,
  PLACE_LEASE_MS,
} from '../../core/limits/limit-store.port.js';
import { CHARGE, ENTER, RENEW } from './limit-scripts.js';

/** Commands that ioredis makes of the scripts: by hash, sent whole where Redis does not know them. */
interface LimitCommands {
  limitEnter(account: string, places: string, ...args: readonly (string | number)[]): Promise<EnterReply>;
  limitCharge(account: string, places: string, ...args: readonly (string | number)[]): Promise<number>;
  limitRenew(account: string, places: string, ...args: readonly (string | number)[]): Promise<number>;
}

type EnterReply = readonly [
  refused: number,
  nowMs: string,
  requestsPaidMs: string,
  tokensPaidMs: string,
  audioPaidMs: string,
  day: number,
  dayCount: number,
  running: number,
];

/** Accounts in Redis, shared by all gateways. Whatever nobody uses any more expires there. @throws what ioredis throws */
export class RedisLimitStore implements LimitStore {
  readonly #redis: Redis & LimitCommands;

  /**
   * @param prefix setting `redis.prefix`
   * @param nowMs the clock of tests; absent: Redis's own
   */
  constructor(
    redis: Redis,
    private readonly prefix: string,
    private readonly nowMs?: () => number,
  ) {
    for (const [name, lua] of [
      ['limitEnter', ENTER] as const,
      ['limitCharge', CHARGE] as const,
      ['limitRenew', RENEW] as const,
    ]) {
      redis.defineCommand(name, { numberOfKeys: 2, lua });
    }
    this.#redis = redis as Redis & LimitCommands;
  }

  async enter({ subject, ticket, limits }: LimitAdmission): Promise<Entry> {
    const limitValues = LIMIT_NAMES.map(name => limits[name]);
    const reply = await this.#redis.limitEnter(
      ...this.#keys(subject),
      this.#now,
      ticket,
      PLACE_LEASE_MS,
      ...limitValues,
    );
    return entryOf(reply, limits);
  }

  async charge({ subject, limits }: LimitAdmission, { tokens, audioSeconds }: Spent): Promise<void> {
    const { tokensPerMinute, audioSecondsPerMinute } = limits;
    await this.#redis.limitCharge(
      ...this.#keys(subject),
      ...[this.#now, tokens, tokensPerMinute, audioSeconds, audioSecondsPerMinute],
    );
  }

  async leave({ subject, ticket }: LimitAdmission): Promise<void> {
    await this.#redis.zrem(this.#keys(subject)[1], ticket);
  }

  async renew(entrances: readonly LimitAdmission[]): Promise<void> {
    const bySubject = grouped(entrances);
    const renewals = [...bySubject].map(([subject, members]) =>
      this.#redis.limitRenew(...this.#keys(subject), this.#now, PLACE_LEASE_MS, ...members.map(({ ticket }) => ticket)),
    );
    await Promise.all(renewals);
  }

  /** In braces, so that a cluster keeps both on one node. */
  #keys(subject: string): [account: string, places: string] {
    const account = `${this.prefix}:limits:{${subject}}`;
    return [account, `${account}:running`];
  }

  get #now(): number | '' {
    return this.nowMs?.() ?? '';
  }
}

/** The waiting time and the headers follow from the account by the rule of `core/limits`, as they do in one process. */
function entryOf([refused, now, requests, tokens, audio, day, dayCount, running]: EnterReply, limits: Limits): Entry {
  const nowMs = Number(now);
  const use: LimitUse = {
    ...{ requestsPaidMs: Number(requests), tokensPaidMs: Number(tokens), audioPaidMs: Number(audio) },
    ...{ day, dayCount, running },
  };
  const standing = standingOf(limits, use, nowMs);
  const limit = LIMIT_NAMES[refused - 1];
  if (limit === undefined) return { standing };
  return { standing, refusal: refusalOf(limits, use, nowMs) ?? { limit, retryAfterMs: 1000 } };
}

function grouped(entrances: readonly LimitAdmission[]): ReadonlyMap<string, readonly LimitAdmission[]> {
  const bySubject = new Map<string, LimitAdmission[]>();
  for (const entrance of entrances) {
    const others = bySubject.get(entrance.subject);
    if (others) others.push(entrance);
    else bySubject.set(entrance.subject, [entrance]);
  }
  return bySubject;
}
