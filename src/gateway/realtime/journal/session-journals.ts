import { randomUUID } from 'node:crypto';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type Principal } from '../../../platform/auth/principal.js';
import { Settings } from '../../../platform/config/settings.js';
import { RedisLink } from '../../../platform/redis/redis.module.js';
import { JournalStore } from './journal-store.js';
import { type JournaledSession, SessionJournal } from './session-journal.js';
import { type AdoptedSession, secretDigest } from './session-state.js';

/**
 * Longest wait of an event for its write; without a connection to Redis a write
 * fails at once.
 */
const WRITE_MS = 500;
const FIRST_PROBE_MS = 1000;
/** Longest pause between probes, for a Redis that answers one and fails again at once. */
const LONGEST_PROBE_MS = 60_000;

/**
 * The journals of this gateway's sessions, with a Redis.
 * While Redis does not answer, sessions neither wait for it nor begin with a journal;
 * when it does, all of them have one again.
 */
@Injectable()
export class SessionJournals implements OnApplicationShutdown {
  readonly #logger = new Logger(SessionJournals.name);
  /**
   * A silent client causes no writes: its session stays for as long as silence is allowed.
   */
  readonly #ttlMs: number;
  readonly #store: JournalStore | undefined;
  /** Journals of sessions that continue without a journal. */
  readonly #suspended = new Set<SessionJournal>();
  /** Sessions to be deleted from Redis, with the time when Redis does that by itself. */
  readonly #stale = new Map<string, number>();
  #away = false;
  #probeMs = FIRST_PROBE_MS;
  #backAtMs = -LONGEST_PROBE_MS;
  #probe: NodeJS.Timeout | undefined;

  constructor(
    link: RedisLink,
    private readonly settings: Settings,
  ) {
    const { idleTimeoutMs, resumeWindowMs } = settings.realtime;
    const { prefix } = settings.redis;
    this.#ttlMs = idleTimeoutMs + resumeWindowMs;
    const redis = link.commands(WRITE_MS);
    const options = { prefix, owner: randomUUID(), ttlMs: this.#ttlMs };
    this.#store = redis && new JournalStore(redis, options);
  }

  /** Undefined: sessions are resumed on their own gateway only. */
  open(session: JournaledSession, adopted: AdoptedSession | undefined): SessionJournal | undefined {
    if (!this.#store || this.settings.realtime.resumeWindowMs === 0) return undefined;
    const journal: SessionJournal = new SessionJournal({
      session,
      store: this.#store,
      onLost: reason => this.#lost(journal, reason),
      onEnd: stale => {
        this.#suspended.delete(journal);
        if (stale) void this.#forget(session.id, Date.now() + this.#ttlMs);
      },
    });
    if (this.#away) {
      journal.suspend();
      this.#suspended.add(journal);
    }
    if (adopted) journal.adopted(adopted);
    return journal;
  }

  /**
   * Takes over a session of another gateway. Undefined: none that this caller may have.
   */
  async adopt(
    id: string,
    secret: string,
    { tenant }: Principal,
  ): Promise<AdoptedSession | undefined> {
    if (!/^sess_[0-9a-f]{24}$/.test(id)) return undefined;
    try {
      const found = await this.#store?.adopt(id, tenant, secretDigest(secret));
      return found?.state.v === 1 && found.state.expiresAtMs > Date.now() ? found : undefined;
    } catch (error) {
      this.#logger.warn(
        { reason: (error as Error).message },
        'a session could not be looked up in Redis',
      );
      return undefined;
    }
  }

  onApplicationShutdown(): void {
    clearTimeout(this.#probe);
    this.#suspended.clear();
  }

  #lost(journal: SessionJournal, reason: string): void {
    this.#suspended.add(journal);
    this.#isAway(reason);
  }

  /** Logged once, whatever the number of sessions. */
  #isAway(reason: string): void {
    if (this.#away) return;
    this.#away = true;
    const again = performance.now() - this.#backAtMs < LONGEST_PROBE_MS;
    this.#probeMs = again ? Math.min(2 * this.#probeMs, LONGEST_PROBE_MS) : FIRST_PROBE_MS;
    this.#logger.warn(
      { reason },
      'Redis does not store live sessions: until it does, they can be resumed on this gateway only',
    );
    this.#probeLater();
  }

  #probeLater(): void {
    this.#probe = setTimeout(() => void this.#look(), this.#probeMs).unref();
  }

  async #look(): Promise<void> {
    for (const [id, untilMs] of this.#stale) if (untilMs < Date.now()) this.#stale.delete(id);
    try {
      await this.#store?.ping();
    } catch {
      return this.#probeLater();
    }
    this.#away = false;
    this.#backAtMs = performance.now();
    this.#logger.log({ sessions: this.#suspended.size }, 'live sessions are stored in Redis again');
    const [suspended, stale] = [[...this.#suspended], [...this.#stale]];
    this.#suspended.clear();
    this.#stale.clear();
    for (const journal of suspended) journal.restart();
    for (const [id, untilMs] of stale) void this.#forget(id, untilMs);
  }

  async #forget(id: string, untilMs: number): Promise<void> {
    try {
      await this.#store?.forget(id);
    } catch (error) {
      this.#stale.set(id, untilMs);
      this.#isAway((error as Error).message);
    }
  }
}
