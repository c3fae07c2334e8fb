import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Redis } from 'ioredis';
import {
  type AdoptedSession,
  type JournalAudio,
  type SentEvent,
  type SessionState,
} from './session-state.js';

/** KEYS: the session (a hash: owner, state), its events and its audio (lists). */

/**
 * ARGV: owner, 1 for the first write (which replaces what the same owner left there),
 * milliseconds to live, state, events to drop, number of events, events…, audio to drop,
 * audio or ''. Returns 1: written; 0: another gateway has the session; -1: it no longer
 * exists, as after a restart of Redis.
 */
const WRITE = `
local exists = redis.call('EXISTS', KEYS[1]) == 1
if ARGV[2] == '1' then
  if exists and redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
elseif not exists then return -1
elseif redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'state', ARGV[4])
local n = tonumber(ARGV[6])
for i = 1, n do redis.call('RPUSH', KEYS[2], ARGV[6 + i]) end
if tonumber(ARGV[5]) > 0 then redis.call('LTRIM', KEYS[2], ARGV[5], -1) end
local audio = ARGV[8 + n]
if audio ~= '' then redis.call('RPUSH', KEYS[3], audio) end
if tonumber(ARGV[7 + n]) > 0 then redis.call('LTRIM', KEYS[3], ARGV[7 + n], -1) end
for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], ARGV[3]) end
return 1
`;

/**
 * ARGV: new owner, tenant, digest of the secret. Returns state, events and
 * audio, or nothing when one of them does not match. From now on the old owner's
 * writes are refused.
 */
const ADOPT = `
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return false end
local known = cjson.decode(state)
if known.tenant ~= ARGV[2] or known.secretSha256 ~= ARGV[3] then return false end
redis.call('HSET', KEYS[1], 'owner', ARGV[1])
return {state, redis.call('LRANGE', KEYS[2], 0, -1), redis.call('LRANGE', KEYS[3], 0, -1)}
`;

/** ARGV: owner. */
const FORGET = `
if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then redis.call('DEL', KEYS[1], KEYS[2], KEYS[3]) end
return 0
`;

interface JournalCommands {
  journalWrite(...args: readonly (string | number | Buffer)[]): Promise<number>;
  journalAdoptBuffer(...args: readonly string[]): Promise<[Buffer, Buffer[], Buffer[]] | null>;
  journalForget(...args: readonly string[]): Promise<number>;
}

const OUTCOMES: Readonly<Record<number, 'written' | 'taken'>> = { 1: 'written', 0: 'taken' };

/**
 * Sessions in Redis. Each write is one atomic step, refused once another gateway has
 * taken over. @throws of ioredis
 */
export class JournalStore {
  readonly #redis: Redis & JournalCommands;

  constructor(
    redis: Redis,
    private readonly options: {
      /** Setting `redis.prefix`. */
      readonly prefix: string;
      /** Names this gateway. */
      readonly owner: string;
      /** How long Redis stores a session after its last write. */
      readonly ttlMs: number;
    },
  ) {
    for (const [name, lua] of Object.entries({
      journalWrite: WRITE,
      journalAdopt: ADOPT,
      journalForget: FORGET,
    }))
      redis.defineCommand(name, { numberOfKeys: 3, lua });
    this.#redis = redis as Redis & JournalCommands;
  }

  async write(
    id: string,
    write: {
      readonly first: boolean;
      readonly state: SessionState;
      readonly events: readonly SentEvent[];
      /** Oldest events and pieces of audio to drop, counted after this write. */
      readonly dropEvents: number;
      readonly dropAudio: number;
      readonly audio: JournalAudio | undefined;
    },
  ) {
    const { owner, ttlMs } = this.options;
    const { first, state, events, dropEvents, dropAudio, audio } = write;
    const code = await this.#redis.journalWrite(
      ...this.#keys(id),
      ...[owner, first ? 1 : 0, ttlMs, writeJson(state), dropEvents, events.length],
      ...events.map(({ json }) => json),
      dropAudio,
      audio ? packed(audio) : '',
    );
    return OUTCOMES[code] ?? 'gone';
  }

  /** Undefined: no such session, another tenant's, or another secret. */
  async adopt(
    id: string,
    tenant: string,
    secretSha256: string,
  ): Promise<AdoptedSession | undefined> {
    const found = await this.#redis.journalAdoptBuffer(
      ...this.#keys(id),
      this.options.owner,
      tenant,
      secretSha256,
    );
    if (!found) return undefined;
    const [state, events, audio] = found;
    return {
      state: parseBoundedJson(state.toString(), STORED_BOUNDS) as SessionState,
      events: events.map(event => sentEvent(event.toString())),
      audio: audio.map(unpacked),
    };
  }

  /** @throws when Redis does not answer. */
  async ping(): Promise<void> {
    await this.#redis.ping();
  }

  async forget(id: string): Promise<void> {
    await this.#redis.journalForget(...this.#keys(id), this.options.owner);
  }

  /** In braces, so that a cluster stores all of a session on one node. */
  #keys(id: string): [session: string, events: string, audio: string] {
    const key = `${this.options.prefix}:realtime:{${id}}`;
    return [key, `${key}:events`, `${key}:audio`];
  }
}

const HEAD_BYTES = 8;

function packed({ start, pcm }: JournalAudio): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeDoubleBE(start);
  return Buffer.concat([head, pcm]);
}

const sentEvent = (json: string): SentEvent => ({
  id: (parseBoundedJson(json) as { event_id: string }).event_id,
  json,
});

const unpacked = (entry: Buffer): JournalAudio => ({
  start: entry.readDoubleBE(),
  pcm: entry.subarray(HEAD_BYTES),
});
