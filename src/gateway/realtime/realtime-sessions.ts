import {
  Injectable,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { type Subscription } from 'rxjs';
import { CLOSE } from '../../contracts/realtime/realtime-event.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type Claim, SharedBound } from '../../core/limits/shared-bound.js';
import { Authenticator } from '../../platform/auth/authenticator.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { type Principal } from '../../platform/auth/principal.js';
import { shuttingDown } from '../../platform/http/passing-errors.js';
import { ShutdownGrace } from '../lifecycle/shutdown-drain.js';
import { SessionJournals } from './journal/session-journals.js';
import { RealtimeSession } from './realtime-session.js';
import { type NewSession } from './session/session-core.js';
import { SessionServices } from './session/session-services.js';

/**
 * All live sessions: finds and counts them, and ends them with their key or
 * with the process.
 */
@Injectable()
export class RealtimeSessions implements OnModuleInit, OnModuleDestroy, OnApplicationShutdown {
  readonly #sessions = new Map<string, RealtimeSession>();
  readonly #releasing = new Set<RealtimeSession>();
  readonly #room: SharedBound;
  /** Session → function that releases its place. */
  readonly #places = new WeakMap<RealtimeSession, () => void>();
  #closing = false;
  #keyChanges: Subscription | undefined;

  constructor(
    private readonly services: SessionServices,
    readonly journals: SessionJournals,
    private readonly grace: ShutdownGrace,
    private readonly keys: KeyRing,
    private readonly authenticator: Authenticator,
  ) {
    this.#room = new SharedBound(services.settings.realtime.maxSessions);
  }

  onModuleInit(): void {
    this.#keyChanges = this.keys.changed$.subscribe(() => this.#endWithdrawn());
  }

  onApplicationShutdown(): void {
    this.#keyChanges?.unsubscribe();
  }

  /**
   * @param isNew false: a session that is resumed has its place, or needs one when it is found
   * @throws DomainError `shutting_down`; `queue_full` when there are too many sessions and none may
   *   end for this tenant.
   */
  demandRoom({ tenant }: Principal, isNew: boolean): void {
    if (this.#closing) throw shuttingDown();
    if (isNew) this.#enter(tenant)();
  }

  /** Full: a session without its client ends, or a quiet one of the tenant with the most (D-51). */
  #enter(tenant: string, claim: Claim = {}): () => void {
    const leave =
      this.#room.enter(tenant, claim) ??
      (this.#endDetached(() => true) ? this.#room.enter(tenant, claim) : undefined);
    if (leave) return leave;
    const { maxSessions } = this.services.settings.realtime;
    throw new DomainError(
      'queue_full',
      `The limit of ${maxSessions} live sessions (realtime.max_sessions) is reached.`,
      { retryAfterMs: 1000 },
    );
  }

  all(): readonly RealtimeSession[] {
    return [...this.#sessions.values()];
  }

  create(wanted: NewSession): RealtimeSession {
    const session: { made?: RealtimeSession } = {};
    const leave = this.#enter(wanted.owner.tenant, {
      end: () =>
        void session.made?.end(CLOSE.tryAgainLater, 'its place was needed while it was quiet'),
      pace: () => (session.made?.connection.isQuiet ? 0 : undefined),
    });
    const made = new RealtimeSession(wanted, this.services, this);
    session.made = made;
    this.#sessions.set(made.id, made);
    this.#places.set(made, leave);
    return made;
  }

  /**
   * @throws DomainError `session_not_found`, the same for a wrong id, a wrong secret
   *   and another tenant.
   */
  find(id: string, secret: string, { tenant }: Principal): RealtimeSession {
    const session = this.#sessions.get(id);
    if (session?.hasSecret(secret) && session.owner.tenant === tenant) return session;
    throw new DomainError(
      'session_not_found',
      'No such session, it has ended, or its secret does not match.',
    );
  }

  /** On this gateway, or taken over from another one. @throws DomainError as `find` */
  async findAnywhere(id: string, secret: string, owner: Principal): Promise<RealtimeSession> {
    if (this.#sessions.has(id)) return this.find(id, secret, owner);
    const session = await this.journals.adopt(id, secret, owner);
    if (!session || this.#sessions.has(id)) return this.find(id, secret, owner);
    const { config, dialect } = session.state;
    const made = this.create({
      config,
      dialect,
      owner,
      adopted: { id, secret, session },
    });
    made.restore();
    return made;
  }

  /** Sessions that hold a streaming slot, by canonical model id. */
  countByModel(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const session of this.#sessions.values()) {
      if (!session.live) continue;
      const model = this.services.modelOf(session.config);
      counts.set(model, (counts.get(model) ?? 0) + 1);
    }
    return counts;
  }

  /**
   * Until its slot is free, a client that asks for one waits for it, such as one
   * that starts anew.
   */
  ended(session: RealtimeSession, released: Promise<void>): void {
    this.#sessions.delete(session.id);
    this.#places.get(session)?.();
    this.#releasing.add(session);
    void released.finally(() => this.#releasing.delete(session));
  }

  slotComing(model: string): boolean {
    const holds = ({ config }: RealtimeSession): boolean => this.services.modelOf(config) === model;
    if ([...this.#releasing].some(holds)) return true;
    return this.#endDetached(session => session.live && holds(session));
  }

  /**
   * Ends the session that has been detached longest, so that an attached one
   * gets its slot.
   * @returns false: there is none
   */
  #endDetached(eligible: (session: RealtimeSession) => boolean): boolean {
    const waiting = [...this.#sessions.values()].filter(
      one => one.connection.detachedAtMs !== undefined && eligible(one),
    );
    const [oldest] = waiting.sort(
      (a, b) => a.connection.detachedAtMs! - b.connection.detachedAtMs!,
    );
    void oldest?.end(CLOSE.tryAgainLater, 'its slot was needed while its client was away');
    return oldest !== undefined;
  }

  /**
   * Ends sessions with the key that opened them, or with the key of their short-lived
   * token, connected or not.
   */
  #endWithdrawn(): void {
    const withdrawn = new DomainError(
      'invalid_api_key',
      'The API key of this session was withdrawn.',
    );
    for (const session of [...this.#sessions.values()])
      if (!this.authenticator.isCurrent(session.owner))
        session.fail(withdrawn, CLOSE.policyViolation);
  }

  /**
   * Starts before anything else stops; the drain waits for it, and workers are
   * there until then.
   */
  onModuleDestroy(): void {
    this.#closing = true;
    this.grace.waitFor(
      Promise.all([...this.#sessions.values()].map(session => this.#leave(session))),
    );
  }

  /**
   * The last segment gets what the grace leaves after the close frame, which the client
   * may not answer.
   */
  #leave(session: RealtimeSession): Promise<void> {
    const leftMs = this.grace.leftMs();
    const closeMs = Math.min(MAX_CLOSE_MS, leftMs / 4);
    const reason = 'the server is shutting down';
    return session.leave(CLOSE.goingAway, reason, leftMs - closeMs, closeMs);
  }
}

/** Longest wait for the answer to a close frame when the process ends. */
const MAX_CLOSE_MS = 2000;
