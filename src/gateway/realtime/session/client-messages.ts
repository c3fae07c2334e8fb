import { IgnoredFields } from '../../../contracts/openai/field-rules.js';
import {
  type ClientEvent,
  openEnvelope,
  readClientEvent,
} from '../../../contracts/realtime/client-event.js';
import { CLOSE, type CloseCode } from '../../../contracts/realtime/close-code.js';
import { errorEvent, ignoredWarning } from '../../../contracts/realtime/server-event.js';
import { type SessionConfig } from '../../../contracts/realtime/session-config.js';
import { type Dialect } from '../../../contracts/realtime/session-view.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { errorDefinition } from '../../../contracts/errors/error-registry.js';
import { type ModelCatalog } from '../../models/model-catalog.js';
import { type SessionOutbox } from './session-outbox.js';
import { type SessionInput } from './session-input.js';
import { type SessionOutput } from './session-output.js';
import { demandSameFormat, needsNewStream, updatedSession } from './session-settings.js';

/**
 * Mistakes a client may make in ten seconds: each is answered, so a flood of them is a
 * flood of answers.
 */
const MOST = 100;
const WITHIN_MS = 10_000;

/** Bad input is recoverable; nothing but bad input is abuse. */
export class MistakeLimit {
  readonly #timesMs: number[] = [];

  /** @returns true when this one is one too many. */
  exceeded(nowMs: number): boolean {
    this.#timesMs.push(nowMs);
    if (this.#timesMs.length <= MOST) return false;
    return nowMs - (this.#timesMs.shift() ?? nowMs) < WITHIN_MS;
  }
}

/**
 * First bytes of audio files, as browsers' recorders and file readers send
 * them by mistake.
 */
const CONTAINERS: readonly (readonly [magic: Buffer, name: string])[] = [
  [Buffer.from('RIFF'), 'a WAV file'],
  [Buffer.from('OggS'), 'Ogg'],
  [Buffer.from('fLaC'), 'FLAC'],
  [Buffer.from('ID3'), 'MP3'],
  [Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), 'WebM'],
];

/** The container format of a first binary frame; undefined: it looks like raw audio. */
export function containerOf(frame: Buffer): string | undefined {
  return CONTAINERS.find(([magic]) => frame.subarray(0, magic.length).equals(magic))?.[1];
}

/** The session that the messages are for. */
export interface MessageTarget {
  config(): SessionConfig;
  setConfig(next: SessionConfig): void;
  readonly input: SessionInput;
  readonly output: SessionOutput;
  readonly outbox: SessionOutbox;
  readonly catalog: ModelCatalog;
  /** `compat.strict` */
  readonly strict: boolean;
  fail(error: DomainError, code: CloseCode): void;
  end(code: CloseCode, reason: string): Promise<void>;
  view(): Record<string, unknown>;
  nowMs(): number;
}

/** Messages of the client: each is applied, or answered with an error event. */
export class ClientMessages {
  readonly #mistakes = new MistakeLimit();

  constructor(private readonly target: MessageTarget) {}

  text(message: string): void {
    const ignored = new IgnoredFields(this.target.strict);
    let eventId: string | undefined;
    try {
      const envelope = openEnvelope(message, ignored);
      eventId = envelope.eventId;
      this.#act(readClientEvent(envelope));
      this.#warn(ignored);
    } catch (error) {
      this.#mistake(error, eventId);
    }
  }

  binary(data: Buffer): void {
    const container = this.target.input.begun ? undefined : containerOf(data);
    if (container !== undefined) {
      const message = `Binary frames are raw audio in the session's format; this is ${container}.`;
      return this.target.fail(
        new DomainError('invalid_audio', message),
        CLOSE.unsupportedData,
      );
    }
    try {
      this.#append(data);
    } catch (error) {
      this.#mistake(error, undefined);
    }
  }

  #mistake(error: unknown, eventId: string | undefined): void {
    if (!(error instanceof DomainError)) throw error;
    this.target.outbox.send(errorEvent(error, eventId));
    if (this.#mistakes.exceeded(this.target.nowMs()))
      void this.target.end(CLOSE.policyViolation, 'too many bad events');
  }

  #act(event: ClientEvent): void {
    const { input, output, outbox } = this.target;
    switch (event.type) {
      case 'session.update':
        return this.#update(event.session, outbox.currentDialect, 'session.updated');
      case 'transcription_session.update':
        outbox.setDialect('older');
        return this.#update(event.session, 'older', 'transcription_session.updated');
      case 'input_audio_buffer.append':
        return this.#append(event.audio);
      case 'input_audio_buffer.commit':
        return input.commit();
      case 'input_audio_buffer.clear':
        return input.clear();
      case 'conversation.item.create':
        return output.add(event.text, event.id);
      case 'response.create':
        return output.respond(event.speech);
      case 'response.cancel':
        return output.cancel(event.responseId);
    }
  }

  #update(value: unknown, dialect: Dialect, answer: string): void {
    const { target } = this;
    const current = target.config();
    const ignored = new IgnoredFields(target.strict);
    const next = updatedSession(value, {
      current,
      dialect,
      catalog: target.catalog,
      ignored,
    });
    if (target.input.begun) demandSameFormat(next, current, dialect);
    target.setConfig(next);
    if (needsNewStream(current, next)) target.input.reopen();
    target.outbox.send({ type: answer, session: target.view() });
    this.#warn(ignored);
  }

  #warn({ paths }: IgnoredFields): void {
    if (paths.length > 0) this.target.outbox.send(ignoredWarning(paths));
  }

  /**
   * Without a slot for its first audio the session ends; the client is asked
   * to retry later.
   */
  #append(audio: Buffer): void {
    try {
      this.target.input.append(audio);
    } catch (error) {
      if (!(error instanceof DomainError) || errorDefinition(error).retry !== 'later')
        throw error;
      this.target.fail(error, CLOSE.tryAgainLater);
    }
  }
}
