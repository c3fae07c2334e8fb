import { type Redis } from 'ioredis';
import { ADOPT, FORGET, WRITE } from './journal-scripts.js';
import { type AdoptedSession, type JournalAudio, type SessionState } from './session-state.js';

interface JournalCommands {
  journalWrite(...args: readonly (string | number | Buffer)[]): Promise<number>;
  journalAdoptBuffer(...args: readonly string[]): Promise<[Buffer, Buffer[], Buffer[]] | null>;
  journalForget(...args: readonly string[]): Promise<number>;
}

export interface JournalWrite {
  readonly owner: string;
  readonly first: boolean;
  readonly ttlMs: number;
  readonly state: SessionState;
  readonly events: readonly string[];
  /** Events and pieces of audio at the old end that go; counted after this write. */
  readonly dropEvents: number;
  readonly dropAudio: number;
  readonly audio: JournalAudio | undefined;
}

export type JournalOutcome = 'written' | 'taken' | 'gone';

const OUTCOMES: Readonly<Record<number, JournalOutcome>> = { 1: 'written', 0: 'taken', [-1]: 'gone' };

/** Sessions in Redis: each write is one atomic step, refused once another gateway has taken over. @throws what ioredis throws */
export class JournalStore {
  readonly #redis: Redis & JournalCommands;

  /** @param prefix setting `redis.prefix` */
  constructor(
    redis: Redis,
    private readonly prefix: string,
  ) {
    for (const [name, lua] of Object.entries({ journalWrite: WRITE, journalAdopt: ADOPT, journalForget: FORGET }))
      redis.defineCommand(name, { numberOfKeys: 3, lua });
    this.#redis = redis as Redis & JournalCommands;
  }

  async write(id: string, write: JournalWrite): Promise<JournalOutcome> {
    const { owner, first, ttlMs, state, events, dropEvents, dropAudio, audio } = write;
    const code = await this.#redis.journalWrite(
      ...this.#keys(id),
      ...[owner, first ? 1 : 0, ttlMs, JSON.stringify(state), dropEvents, events.length],
      ...events,
      dropAudio,
      audio ? packed(audio) : '',
    );
    return OUTCOMES[code] ?? 'gone';
  }

  /** Undefined: no such session, another tenant's, or another secret. */
  async adopt(
    id: string,
    { owner, tenant, secretSha256 }: { owner: string; tenant: string; secretSha256: string },
  ): Promise<AdoptedSession | undefined> {
    const found = await this.#redis.journalAdoptBuffer(...this.#keys(id), owner, tenant, secretSha256);
    if (!found) return undefined;
    const [state, events, audio] = found;
    return {
      state: JSON.parse(state.toString()) as SessionState,
      events: events.map(String),
      audio: audio.map(unpacked),
    };
  }

  /** @throws when Redis does not answer. */
  async ping(): Promise<void> {
    await this.#redis.ping();
  }

  async forget(id: string, owner: string): Promise<void> {
    await this.#redis.journalForget(...this.#keys(id), owner);
  }

  /** In braces, so that a cluster keeps all of a session on one node. */
  #keys(id: string): [session: string, events: string, audio: string] {
    const key = `${this.prefix}:realtime:{${id}}`;
    return [key, `${key}:events`, `${key}:audio`];
  }
}

const HEAD_BYTES = 8;

function packed({ start, pcm }: JournalAudio): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeDoubleBE(start);
  return Buffer.concat([head, pcm]);
}

const unpacked = (entry: Buffer): JournalAudio => ({
  start: entry.readDoubleBE(),
  pcm: entry.subarray(HEAD_BYTES),
});
