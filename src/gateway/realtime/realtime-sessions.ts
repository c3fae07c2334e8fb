import { randomBytes } from 'node:crypto';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { CLOSE } from '../../contracts/realtime/close-code.js';
import { type SessionConfig } from '../../contracts/realtime/session-config.js';
import { type Dialect } from '../../contracts/realtime/session-view.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { ModelCatalog } from '../api/model-catalog.js';
import { type StreamHandle } from '../worker-pool/stream-handle.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { RealtimeJournal } from './realtime-journal.js';
import { RealtimeSession } from './realtime-session.js';
import { Outbox } from './session/outbox.js';
import { SessionInput } from './session/session-input.js';
import { SessionOutput } from './session/session-output.js';
import { demandTranscribing } from './session/session-settings.js';
import { TranscriptItems } from './session/transcript-items.js';
import { Speaker } from './speaker.js';

/** How long sessions have, at the end of the process, to hear their last segment: half of the drain at most. */
const LAST_WORDS_MS = 5000;

export interface NewSession {
  readonly config: SessionConfig;
  readonly dialect: Dialect;
  readonly tenant: string;
}

/** All live sessions: made, found again, counted, and sent home at shutdown. */
@Injectable()
export class RealtimeSessions implements OnModuleDestroy {
  readonly #sessions = new Map<string, RealtimeSession>();
  #closing = false;

  constructor(
    private readonly pool: WorkerPoolService,
    private readonly catalog: ModelCatalog,
    private readonly speaker: Speaker,
    private readonly journal: RealtimeJournal,
    private readonly clock: ProcessClock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws DomainError `shutting_down`, `queue_full` when there are too many sessions. */
  demandRoom(): void {
    if (this.#closing) throw new DomainError('shutting_down', 'The server is shutting down.', { retryAfterMs: 1000 });
    const { maxSessions } = this.settings.realtime;
    if (this.#sessions.size < maxSessions) return;
    throw new DomainError('queue_full', `There are ${maxSessions} live sessions already.`, { retryAfterMs: 1000 });
  }

  create({ config, dialect, tenant }: NewSession): RealtimeSession {
    const id = `sess_${randomBytes(12).toString('hex')}`;
    const limits = this.settings.realtime;
    const outbox = new Outbox(id, limits.maxBufferedBytes, dialect);
    const items = new TranscriptItems();
    const session = new RealtimeSession({
      ...{ id, limits, config, outbox, catalog: this.catalog },
      secret: randomBytes(24).toString('base64url'),
      input: own => this.#input(own, outbox, items),
      output: own => new SessionOutput({ speaker: this.speaker, outbox, items, tenant, config: () => own.config }),
      onEnd: () => this.#sessions.delete(id),
      nowMs: () => this.clock.nowMs(),
    });
    this.#sessions.set(id, session);
    return session;
  }

  /** @throws DomainError `session_not_found`, the same for a wrong id and a wrong secret. */
  find(id: string, secret: string): RealtimeSession {
    const session = this.#sessions.get(id);
    if (session?.knows(secret)) return session;
    throw new DomainError('session_not_found', 'No such session, it ended, or its secret is another.');
  }

  /** Sessions that hold a streaming slot, by canonical model id. */
  countByModel(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const session of this.#sessions.values()) {
      if (!session.live) continue;
      const model = this.catalog.get(session.config.model).id;
      counts.set(model, (counts.get(model) ?? 0) + 1);
    }
    return counts;
  }

  /** Before anything else stops: workers are still there for the last segments. */
  async onModuleDestroy(): Promise<void> {
    this.#closing = true;
    const flushMs = Math.min(LAST_WORDS_MS, this.settings.server.shutdownGraceMs / 2);
    const sessions = [...this.#sessions.values()];
    await Promise.all(sessions.map(session => session.leave(CLOSE.goingAway, 'the server is shutting down', flushMs)));
  }

  #input(session: RealtimeSession, outbox: Outbox, items: TranscriptItems): SessionInput {
    const model = () => this.catalog.get(session.config.model).id;
    let streams = 0;
    return new SessionInput({
      limits: this.settings.realtime,
      items,
      config: () => session.config,
      open: () => this.#openStream(session, ++streams),
      send: event => outbox.send(event),
      note: (type, ms) => this.journal.note({ type, ms, model: model() }),
      onSpeech: () => session.interrupt(),
      onTooFast: pauseMs => session.slowDown(pauseMs),
      onFatal: (error, code) => session.fail(error, code),
      nowMs: () => this.clock.nowMs(),
    });
  }

  #openStream({ id, config }: RealtimeSession, number: number): StreamHandle {
    const { id: model } = demandTranscribing(config, this.catalog);
    const { language, turnDetection, format } = config;
    return this.pool.openStream(model, {
      // A worker that has not let go of the last stream yet must not take this one for the same.
      sessionId: `${id}.${number}`,
      ...{ language, prompt: '', sampleRate: format.sampleRate, partials: true },
      ...(turnDetection && { voiceActivity: turnDetection }),
    });
  }
}
