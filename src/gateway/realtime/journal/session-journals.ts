import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { type Principal } from '../../../platform/auth/principal.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { RedisLink } from '../../../platform/redis/redis-link.js';
import { JournalStore } from './journal-store.js';
import { SessionJournal, type SessionJournalOptions } from './session-journal.js';
import { type AdoptedSession, secretDigest } from './session-state.js';

/** The journals of this gateway's sessions, where there is a Redis and `realtime.shared_resume` is on. */
@Injectable()
export class SessionJournals {
  readonly #logger = new Logger(SessionJournals.name);
  readonly #owner = randomUUID();
  readonly #store: JournalStore | undefined;

  constructor(
    link: RedisLink,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    const redis = settings.realtime.sharedResume ? link.commands(WRITE_MS) : undefined;
    this.#store = redis && new JournalStore(redis, settings.redis.prefix);
  }

  /** Undefined: sessions are resumed on their own gateway only. */
  open(options: Pick<SessionJournalOptions, 'id' | 'state' | 'onTaken'>): SessionJournal | undefined {
    const { idleTimeoutMs, resumeWindowMs } = this.settings.realtime;
    if (!this.#store || resumeWindowMs === 0) return undefined;
    // Of a client that says nothing, nothing is written: its session lives on for as long as that is allowed.
    return new SessionJournal({
      ...options,
      owner: this.#owner,
      store: this.#store,
      ttlMs: idleTimeoutMs + resumeWindowMs,
    });
  }

  /** What another gateway left of a session; it is ours from now on. Undefined: nothing that this caller may have. */
  async adopt(id: string, secret: string, { tenant }: Principal): Promise<AdoptedSession | undefined> {
    if (!/^sess_[0-9a-f]{24}$/.test(id)) return undefined;
    try {
      const found = await this.#store?.adopt(id, { owner: this.#owner, tenant, secretSha256: secretDigest(secret) });
      return found?.state.v === 1 && found.state.expiresAtMs > Date.now() ? found : undefined;
    } catch (error) {
      this.#logger.warn({ reason: (error as Error).message }, 'a session could not be looked for in Redis');
      return undefined;
    }
  }
}

/** The client's events wait for it; Redis that is away fails at once. */
const WRITE_MS = 5000;
