import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CLOSE } from '../../contracts/realtime/close-code.js';
import { type SessionConfig } from '../../contracts/realtime/session-config.js';
import { type Dialect } from '../../contracts/realtime/session-view.js';
import { demandModel, type Principal } from '../../platform/auth/principal.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { type Settings } from '../../platform/config/settings.js';
import { type Ticket } from '../limits/rate-limiter.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { type StreamHandle } from '../worker-pool/stream-handle.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { WrittenForm } from '../written-form/written-form.js';
import { type SessionJournal } from './journal/session-journal.js';
import { type SessionJournals } from './journal/session-journals.js';
import { type AdoptedSession, secretDigest } from './session/session-state.js';
import { SessionActivity } from './session/session-activity.js';
import { RealtimeSession } from './realtime-session.js';
import { SessionOutbox } from './session/session-outbox.js';
import { SessionInput } from './session/session-input.js';
import { SessionOutput } from './session/session-output.js';
import { demandTranscribing } from './session/session-settings.js';
import { TranscriptItems } from './session/transcript-items.js';
import { SpeechSynthesis } from './session/speech-synthesis.js';

export interface NewSession {
  readonly config: SessionConfig;
  readonly dialect: Dialect;
  readonly owner: Principal;
  /** Its place in `limits.concurrent_requests`, where its owner has limits. */
  readonly ticket?: Ticket;
  /** Of a session that another gateway began. */
  readonly adopted?: {
    readonly id: string;
    readonly secret: string;
    readonly session: AdoptedSession;
  };
}

/** The owner of the sessions that are made. */
export interface SessionHost {
  readonly limits: Settings['realtime'];
  /** `compat.strict` */
  readonly strict: boolean;
  /** @param released resolves when its streaming slot is free */
  onEnd(this: void, session: RealtimeSession, released: Promise<void>): void;
  /**
   * A slot of `model` is being released, if necessary by ending a detached session.
   * @returns false: none
   */
  slotComing(this: void, model: string): boolean;
  readonly openJournal: OpenJournal;
}

type OpenJournal = (
  ...options: Parameters<SessionJournals['open']>
) => SessionJournal | undefined;

interface InputParts {
  readonly outbox: SessionOutbox;
  readonly items: TranscriptItems;
  readonly limits: Settings['realtime'];
  readonly ticket: Ticket | undefined;
  readonly adopted: AdoptedSession | undefined;
  readonly slotComing: SessionHost['slotComing'];
  /** Made after the session. */
  readonly journal: () => SessionJournal | undefined;
}

/** Assembles a session: input, output, journal, and what happens at its end. */
@Injectable()
export class SessionFactory {
  constructor(
    private readonly pool: WorkerPoolService,
    private readonly catalog: ModelCatalog,
    private readonly speaker: SpeechSynthesis,
    private readonly journal: SessionActivity,
    private readonly writtenForm: WrittenForm,
    private readonly clock: ProcessClock,
  ) {}

  make(
    { config, dialect, owner, ticket, adopted }: NewSession,
    { limits, strict, onEnd, slotComing, openJournal }: SessionHost,
  ): RealtimeSession {
    const id = adopted?.id ?? `sess_${randomBytes(12).toString('hex')}`;
    const secret = adopted?.secret ?? randomBytes(24).toString('base64url');
    const expiresAtMs = Date.now() + limits.maxSessionMs;
    const outbox = new SessionOutbox(id, limits.maxBufferedBytes, dialect);
    const items = new TranscriptItems(
      spoken => this.#written(spoken, session.config),
      adopted?.session.state.items,
    );
    const { speaker } = this;
    const session: RealtimeSession = new RealtimeSession({
      ...{ id, owner, limits, config, outbox, strict, catalog: this.catalog },
      secret,
      input: own =>
        this.#input(own, {
          outbox,
          items,
          limits,
          ticket,
          adopted: adopted?.session,
          slotComing,
          journal: () => journal,
        }),
      output: own =>
        new SessionOutput({
          speaker,
          outbox,
          items,
          ...keyOf(owner),
          config: () => own.config,
        }),
      onEnd: released => {
        ticket?.leave();
        onEnd(session, released);
      },
      nowMs: () => this.clock.nowMs(),
    });
    const journal = openJournal({
      id,
      state: () => ({
        ...{
          v: 1,
          tenant: owner.tenant,
          secretSha256: secretDigest(secret),
          expiresAtMs,
        },
        ...(owner.keyId !== undefined && { keyId: owner.keyId }),
        ...{
          config: session.config,
          dialect: outbox.currentDialect,
          sent: outbox.sent,
          items: items.state,
        },
        input: session.input.state,
      }),
      past: () => ({ events: outbox.storedEvents, audio: session.input.storedAudio }),
      onTaken: () =>
        void session.end(CLOSE.policyViolation, 'resumed on another gateway'),
    });
    if (journal) attachJournal(outbox, journal, adopted?.session);
    return session;
  }

  #input(session: RealtimeSession, parts: InputParts): SessionInput {
    const { outbox, items, limits, ticket, adopted, slotComing, journal } = parts;
    const model = () => this.catalog.getOfKind(session.config.model, 'stt').id;
    let streams = 0;
    return new SessionInput({
      limits,
      items,
      config: () => session.config,
      open: () => this.#openStream(session, ++streams),
      slotExpected: ({ code }) =>
        code === 'queue_full'
          ? slotComing(model())
          : code === 'no_worker' && this.#loads(model()),
      send: event => outbox.send(event),
      emit: (type, ms) => this.journal.emit({ type, ms, model: model() }),
      onRecognised: audioSeconds => {
        const { tenant, terms } = session.owner;
        ticket?.charge({ audioSeconds });
        this.journal.emit({
          type: 'recognised',
          model: model(),
          audioSeconds,
          tenant,
          keyId: terms?.key,
        });
      },
      onSpeech: () => session.interrupt(),
      onTooFast: pauseMs => session.slowDown(pauseMs),
      onFatal: (error, code) => session.fail(error, code),
      onAudio: audio => journal()?.audio(audio),
      ...(adopted && { restored: { state: adopted.state.input, audio: adopted.audio } }),
      nowMs: () => this.clock.nowMs(),
    });
  }

  #openStream({ id, config, owner }: RealtimeSession, number: number): StreamHandle {
    const { id: model } = demandTranscribing(config, this.catalog);
    demandModel(owner.terms, model);
    const { language, prompt, turnDetection, format } = config;
    return this.pool.openStream(model, {
      // Unique per stream: a worker may still be ending the last one.
      sessionId: `${id}.${number}`,
      ...{ language, prompt, sampleRate: format.sampleRate, partials: true },
      ...(turnDetection && { voiceActivity: turnDetection }),
    });
  }

  /**
   * Its workers are running or starting, unless an operator unloaded it or
   * none can start.
   */
  #loads(model: string): boolean {
    return !this.pool.isHeld(model) && this.pool.loadFailure(model) === undefined;
  }

  /** As for files: by the model's `itn`, where the language is known in advance. */
  #written(spoken: string, { model, language }: SessionConfig): string {
    const { itn = false, languages } = this.catalog.get(model);
    const order = {
      wanted: itn,
      demanded: false,
      languages: language === '' ? languages : [language],
    };
    return this.writtenForm.ahead(order)?.(spoken) ?? spoken;
  }
}

const keyOf = ({ tenant, terms }: Principal) => ({ tenant, terms });

function attachJournal(
  outbox: SessionOutbox,
  journal: SessionJournal,
  adopted: AdoptedSession | undefined,
): void {
  if (adopted) journal.adopted(adopted.events, adopted.audio);
  outbox.writeTo(
    journal,
    adopted && { sent: adopted.state.sent, events: adopted.events },
  );
}
