import { type Redis } from 'ioredis';
import {
  LIMIT_NAMES,
  type Limits,
  type LimitUse,
  refusalOf,
  type Charge,
  rateLimitStatusOf,
} from '../../core/limits/limit-rules.js';
import {
  type AdmissionResult,
  type LimitAdmission,
  type LimitStore,
  SLOT_LEASE_MS,
} from '../../core/limits/limit-store.port.js';

/**
 * The rules of `core/limits` in Redis: each script is one atomic step. The clock is
 * Redis's own, so that gateways whose clocks differ count alike; `ARGV[1]` sets it in
 * tests. KEYS: the account (a hash) and its places (a sorted set, scored by expiry).
 */
const CLOCK = `
local now = tonumber(ARGV[1])
if not now then
  local t = redis.call('TIME')
  now = tonumber(t[1]) * 1000 + tonumber(t[2]) / 1000
end
local function paid(field) return tonumber(redis.call('HGET', KEYS[1], field) or '0') end
local function keep(field, value) redis.call('HSET', KEYS[1], field, string.format('%.3f', value)) end
local function outlive(ms)
  ms = math.ceil(ms)
  if redis.call('PTTL', KEYS[1]) < ms then redis.call('PEXPIRE', KEYS[1], ms) end
end
`;

/**
 * ARGV: now, ticket, lease, then the limits in order of LIMIT_NAMES. Returns refusing
 * index or 0, and the account.
 */
const ENTER = `${CLOCK}
local day_ms, minute_ms, rounding = 86400000, 60000, 0.01
local lease, per_day, rpm, tpm, apm, places =
  tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local running = redis.call('ZCARD', KEYS[2])
local today = math.floor(now / day_ms)
local count = paid('day') == today and paid('count') or 0
local function short(limit, field)
  if limit <= 0 then return false end
  local owed = math.max(0, paid(field) - now)
  return owed + minute_ms / limit * math.min(1, limit) - minute_ms > rounding
end
local refused = 0
if per_day > 0 and count >= per_day then refused = 1
elseif short(rpm, 'requests') then refused = 2
elseif short(tpm, 'tokens') then refused = 3
elseif short(apm, 'audio') then refused = 4
elseif places > 0 and running >= places then refused = 5 end
if refused == 0 then
  count = count + 1
  redis.call('HSET', KEYS[1], 'day', today, 'count', count)
  if rpm > 0 then keep('requests', math.max(paid('requests'), now) + minute_ms / rpm) end
  redis.call('ZADD', KEYS[2], now + lease, ARGV[2])
  redis.call('PEXPIRE', KEYS[2], math.ceil(lease * 2))
  running = running + 1
  outlive(math.max(minute_ms, paid('requests') - now))
  if per_day > 0 then outlive((today + 1) * day_ms - now) end
end
return {refused, string.format('%.3f', now), string.format('%.3f', paid('requests')),
  string.format('%.3f', paid('tokens')), string.format('%.3f', paid('audio')), today, count, running}
`;

/** ARGV: now, tokens, their limit, seconds of audio, their limit. */
const CHARGE = `${CLOCK}
local function add(field, units, limit)
  if units <= 0 or limit <= 0 then return end
  local value = math.max(paid(field), now) + units * 60000 / limit
  keep(field, value)
  outlive(value - now)
end
add('tokens', tonumber(ARGV[2]), tonumber(ARGV[3]))
add('audio', tonumber(ARGV[4]), tonumber(ARGV[5]))
return 0
`;

/** ARGV: now, lease, tickets. Those that lost their place do not get it back. */
const RENEW = `${CLOCK}
for i = 3, #ARGV do redis.call('ZADD', KEYS[2], 'XX', now + tonumber(ARGV[2]), ARGV[i]) end
redis.call('PEXPIRE', KEYS[2], math.ceil(tonumber(ARGV[2]) * 2))
return 0
`;

/**
 * A command that ioredis makes of a script: sent by its hash, or whole where Redis does not
 * know it.
 */
type LimitCommand<R> = (
  account: string,
  places: string,
  ...args: readonly (string | number)[]
) => Promise<R>;

interface LimitCommands {
  limitEnter: LimitCommand<EnterReply>;
  limitCharge: LimitCommand<number>;
  limitRenew: LimitCommand<number>;
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

/**
 * Accounts in Redis, shared by all gateways. Unused ones expire there.
 * @throws what ioredis throws
 */
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
    const scripts = { limitEnter: ENTER, limitCharge: CHARGE, limitRenew: RENEW };
    for (const [name, lua] of Object.entries(scripts))
      redis.defineCommand(name, { numberOfKeys: 2, lua });
    this.#redis = redis as Redis & LimitCommands;
  }

  async admit({ subject, ticket, limits }: LimitAdmission): Promise<AdmissionResult> {
    const limitValues = LIMIT_NAMES.map(name => limits[name]);
    const reply = await this.#redis.limitEnter(
      ...this.#keys(subject),
      this.#now,
      ticket,
      SLOT_LEASE_MS,
      ...limitValues,
    );
    return entryOf(reply, limits);
  }

  async charge(
    { subject, limits }: LimitAdmission,
    { tokens, audioSeconds }: Charge,
  ): Promise<void> {
    const { tokensPerMinute, audioSecondsPerMinute } = limits;
    await this.#redis.limitCharge(
      ...this.#keys(subject),
      ...[this.#now, tokens, tokensPerMinute, audioSeconds, audioSecondsPerMinute],
    );
  }

  async release({ subject, ticket }: LimitAdmission): Promise<void> {
    await this.#redis.zrem(this.#keys(subject)[1], ticket);
  }

  async renew(admissions: readonly LimitAdmission[]): Promise<void> {
    const bySubject = Map.groupBy(admissions, ({ subject }) => subject);
    const renewals = [...bySubject].map(([subject, members]) =>
      this.#redis.limitRenew(
        ...this.#keys(subject),
        this.#now,
        SLOT_LEASE_MS,
        ...members.map(({ ticket }) => ticket),
      ),
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

/**
 * The waiting time and the headers follow from the account by the rule of `core/limits`,
 * as they do in one process.
 */
function entryOf(
  [refused, now, requests, tokens, audio, day, dayCount, running]: EnterReply,
  limits: Limits,
): AdmissionResult {
  const nowMs = Number(now);
  const use: LimitUse = {
    requestsPaidMs: Number(requests),
    tokensPaidMs: Number(tokens),
    audioPaidMs: Number(audio),
    day,
    dayCount,
    running,
  };
  const status = rateLimitStatusOf(limits, use, nowMs);
  const limit = LIMIT_NAMES[refused - 1];
  if (limit === undefined) return { status };
  return {
    status,
    refusal: refusalOf(limits, use, nowMs) ?? { limit, retryAfterMs: 1000 },
  };
}
