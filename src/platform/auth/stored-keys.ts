import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Subject } from 'rxjs';
import { KeyStore } from '../database/key-store.js';
import { HeldKeys } from './held-keys.js';
import { keyDigest } from './key-secret.js';

/** One small query; a change by another gateway is known after this time. */
const POLL_MS = 2000;

/** `last_used_at` is written at most this often. */
const USED_MS = 60_000;

/**
 * By how much the clocks of gateways may differ: sessions that ended this long before the
 * last are read again.
 */
const CLOCK_SKEW_MS = 600_000;

/**
 * The live keys of the database, in memory: read again when their version changes; and
 * the console's sessions that were signed out. While the database is away, both stay
 * as they were.
 */
@Injectable()
export class StoredKeys implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger(StoredKeys.name);
  readonly #changed = new Subject<void>();
  held = new HeldKeys();
  /** Also true when all were revoked: keys stay required then. */
  everMade = false;
  /** By digest, until they would have expired. */
  readonly #ended = new Map<string, number>();
  #endedAtMs = 0;
  #version = -1;
  #checkedAtMs = Date.now();
  #usedAtMs = Date.now();
  #used = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;
  #isAway = false;

  /** After every reading that found a change, and when a key expired. */
  readonly changed$ = this.#changed.asObservable();

  constructor(private readonly store: KeyStore) {}

  /** Reads the keys after migrations and before the first request. */
  async onApplicationBootstrap(): Promise<void> {
    await this.refresh();
    this.#timer = setInterval(() => void this.#poll(), POLL_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    this.#changed.complete();
    await this.saveUsed().catch(() => undefined);
  }

  isEnded(token: string): boolean {
    return this.#ended.size > 0 && this.#ended.has(keyDigest(token));
  }

  async endSession(sha256: string, expiresAtMs: number): Promise<void> {
    this.#ended.set(sha256, expiresAtMs);
    await this.store.endSession({ sha256, endedAtMs: Date.now(), expiresAtMs });
  }

  markUsed(id: string): void {
    this.#used.add(id);
  }

  /**
   * Resolves when changes made before are in effect here. @throws what the store throws
   */
  async refresh(): Promise<void> {
    // A reading that is under way may have begun before the change.
    await this.#refreshing?.catch(() => undefined);
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    await this.#refreshing;
  }

  async #refresh() {
    await this.#readEnded();
    const version = await this.store.version();
    if (version === this.#version) return;
    // Read after the version: newer than it at worst, and then the next version differs.
    this.held = new HeldKeys(await this.store.live());
    this.#version = version;
    this.everMade = version > 0;
    this.#changed.next();
  }

  async #readEnded() {
    for (const { sha256, endedAtMs, expiresAtMs } of await this.store.endedSessions(
      this.#endedAtMs - CLOCK_SKEW_MS,
    )) {
      this.#ended.set(sha256, expiresAtMs);
      this.#endedAtMs = Math.max(this.#endedAtMs, endedAtMs);
    }
    const nowMs = Date.now();
    for (const [sha256, expiresAtMs] of this.#ended)
      if (expiresAtMs <= nowMs) this.#ended.delete(sha256);
  }

  async #poll() {
    const nowMs = Date.now();
    if (this.held.expiredBetween(this.#checkedAtMs, nowMs)) this.#changed.next();
    this.#checkedAtMs = nowMs;
    try {
      await this.refresh();
      if (nowMs - this.#usedAtMs >= USED_MS) await this.saveUsed(nowMs);
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway)
        this.#logger.warn({ reason: (error as Error).message }, 'API keys stay as they were');
      this.#isAway = true;
    }
  }

  /** Writes when keys were last used. */
  async saveUsed(nowMs = Date.now()): Promise<void> {
    this.#usedAtMs = nowMs;
    const used = [...this.#used];
    this.#used = new Set();
    await this.store.markUsed(used, nowMs);
  }
}
