import { randomBytes } from 'node:crypto';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { invalidField, missingField } from '@switchyard/engine-api/field-problems.js';
import { errorDefinition } from '../../../contracts/errors/error-registry.js';
import { IgnoredFields } from '../../../contracts/openai/ignored-fields.js';
import {
  errorEvent,
  ignoredWarning,
  userItem,
  CLOSE,
  type ClientEvent,
  openEnvelope,
  readClientEvent,
} from '../../../contracts/realtime/realtime-event.js';
import {
  type SessionConfig,
  readOlderSession,
  readSession,
} from '../../../contracts/realtime/session-config.js';
import { type Dialect, sessionView } from '../../../contracts/realtime/session-view.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type Principal } from '../../../platform/auth/principal.js';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { type Ticket } from '../../limits/rate-limiter.js';
import { cannotHonour, demandLanguage, knownCandidate } from '../../models/model-abilities.js';
import { type ModelCatalog } from '../../models/model-catalog.js';
import { type AdoptedSession } from '../journal/session-state.js';
import { Recognition } from './recognition.js';
import { type SessionActions } from './session-actions.js';
import { type SessionServices } from './session-services.js';
import { newItemId } from './transcript-items.js';

const PATHS = {
  ga: {
    transcription: 'session.audio.input.transcription',
    format: 'session.audio.input.format',
  },
  older: {
    transcription: 'session.input_audio_transcription',
    format: 'session.input_audio_format',
  },
} as const;

/**
 * The session with what its model can honour. Fields that only advise and cannot be
 * honoured are added to `ignored` (D-34).
 * @throws DomainError for what changes the meaning and cannot be honoured
 */
export function resolveSession(
  wanted: SessionConfig,
  {
    catalog,
    ignored,
    path,
  }: {
    readonly catalog: ModelCatalog;
    readonly ignored: IgnoredFields;
    readonly path: string;
  },
): SessionConfig {
  const spec = at(`${path}.model`, () => catalog.getOfKind(wanted.model, 'stt'));
  const { languages = [], ...config } = wanted;
  // A recogniser takes one language, or none, and detects it.
  const language =
    languages.length === 0
      ? config.language
      : (at(`${path}.languages`, () => knownCandidate(spec, languages)) ?? '');
  if (languages.length > 1) ignored.paths.push(`${path}.languages`);
  const promptIgnored =
    config.prompt !== '' && !spec.capabilities.includes('prompt') && !ignored.strict;
  if (promptIgnored) ignored.paths.push(`${path}.prompt`);
  const next = { ...config, language, ...(promptIgnored && { prompt: '' }) };
  demandTranscribing(next, catalog, path);
  return next;
}

/**
 * The model of the session, if it can transcribe what the session
 * wants. @throws DomainError
 */
function demandTranscribing(
  config: SessionConfig,
  catalog: ModelCatalog,
  path = 'session',
): ModelSpec {
  const spec = at(`${path}.model`, () => catalog.getOfKind(config.model, 'stt'));
  at(`${path}.language`, () => demandLanguage(spec, config.language));
  const prompt = { param: `${path}.prompt`, capability: 'prompt' };
  if (config.prompt !== '' && !spec.capabilities.includes('prompt'))
    throw cannotHonour(spec, prompt, catalog);
  return spec;
}

/** @throws DomainError `invalid_value` when audio has come in under another format. */
function demandSameFormat(next: SessionConfig, current: SessionConfig, dialect: Dialect): void {
  if (writeJson(next.format) === writeJson(current.format)) return;
  const param = PATHS[dialect].format;
  throw invalidField(param, `\`${param}\` cannot change once audio was sent.`);
}

/** What a stream on a worker depends on. */
const STREAM_SETTINGS = ['model', 'language', 'prompt', 'turnDetection'] as const;

const needsNewStream = (a: SessionConfig, b: SessionConfig): boolean =>
  STREAM_SETTINGS.some(name => writeJson(a[name]) !== writeJson(b[name]));

/** Whatever the check calls its field, the client knows it by `param`. */
function at<T>(param: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new DomainError(error.code, error.message, { param, cause: error });
  }
}

/**
 * Mistakes a client may make in ten seconds: each is answered, so a flood of them is a
 * flood of answers.
 */
const MOST_MISTAKES = 100;
const MISTAKES_WITHIN_MS = 10_000;
/** Text items stored for a response that may never be requested. */
const MAX_ITEMS = 100;

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

export interface NewSession {
  readonly config: SessionConfig;
  readonly dialect: Dialect;
  readonly owner: Principal;
  /** Its place in `limits.concurrent_requests`, where its owner has limits. */
  readonly ticket?: Ticket | undefined;
  /** Of a session that another gateway began. */
  readonly adopted?: {
    readonly id: string;
    readonly secret: string;
    readonly session: AdoptedSession;
  };
}

/**
 * What the messages of a client do: each is acted on, or answered with an error event.
 * Synchronous; times in milliseconds of one clock.
 */
export class SessionCore {
  dialect: Dialect;
  readonly recognition: Recognition;
  /** Texts that the next response speaks. */
  #texts: string[] = [];
  readonly #mistakesMs: number[] = [];

  /** @param facts as the client is told them */
  constructor(
    { config, dialect, adopted }: NewSession,
    private readonly services: SessionServices,
    private readonly session: SessionActions,
    private readonly facts: Parameters<typeof sessionView>[1],
  ) {
    this.dialect = dialect;
    this.recognition = new Recognition(config, services, session, adopted?.session);
  }

  get config(): SessionConfig {
    return this.recognition.config;
  }

  get view(): Record<string, unknown> {
    return sessionView(this.config, this.facts, this.dialect);
  }

  text(message: string, nowMs: number): void {
    const ignored = new IgnoredFields(this.services.settings.compat.strict);
    let eventId: string | undefined;
    try {
      const envelope = openEnvelope(message);
      eventId = envelope.eventId;
      this.#act(readClientEvent(envelope, ignored), nowMs);
      this.#warn(ignored);
    } catch (error) {
      this.#mistake(error, eventId, nowMs);
    }
  }

  binary(data: Buffer, nowMs: number): void {
    try {
      this.#append(data, nowMs);
    } catch (error) {
      this.#mistake(error, undefined, nowMs);
    }
  }

  /** The model, if it can transcribe what the session wants. @throws DomainError */
  demandTranscriber(): ModelSpec {
    return demandTranscribing(this.config, this.#usable());
  }

  #usable(): ModelCatalog {
    return this.services.catalog.usableBy(this.session.owner);
  }

  /** Bad input is recoverable; nothing but bad input is abuse. */
  #mistake(error: unknown, eventId: string | undefined, nowMs: number): void {
    if (!(error instanceof DomainError)) throw error;
    this.session.send(errorEvent(error, eventId));
    this.#mistakesMs.push(nowMs);
    if (this.#mistakesMs.length <= MOST_MISTAKES) return;
    if (nowMs - this.#mistakesMs.shift()! < MISTAKES_WITHIN_MS)
      void this.session.end(CLOSE.policyViolation, 'too many bad events');
  }

  #act(event: ClientEvent, nowMs: number): void {
    switch (event.type) {
      case 'session.update':
        return this.#update(event.session, 'session.updated');
      case 'transcription_session.update':
        this.dialect = 'older';
        return this.#update(event.session, 'transcription_session.updated');
      case 'input_audio_buffer.append':
        return this.#append(event.audio, nowMs);
      case 'input_audio_buffer.commit':
        return this.recognition.commit(nowMs);
      case 'input_audio_buffer.clear':
        return this.recognition.clear();
      case 'conversation.item.create':
        return this.#add(event.text, event.id);
      case 'response.create':
        return this.#respond(event.speech);
      case 'response.cancel':
        return this.#cancel(event.responseId);
    }
  }

  #update(value: unknown, answer: string): void {
    const { config: current, dialect } = this;
    const { settings } = this.services;
    const ignored = new IgnoredFields(settings.compat.strict);
    const read = dialect === 'ga' ? readSession : readOlderSession;
    const path = PATHS[dialect].transcription;
    const wanted = read(value, current, ignored);
    const next = resolveSession(wanted, { catalog: this.#usable(), ignored, path });
    if (this.recognition.begun) demandSameFormat(next, current, dialect);
    this.recognition.configure(next);
    if (needsNewStream(current, next)) this.recognition.reopen();
    this.session.send({ type: answer, session: this.view });
    this.#warn(ignored);
  }

  /**
   * As a binary frame, or in an event. Without a slot for its first audio the session
   * ends; the client is asked to retry later.
   */
  #append(audio: Buffer, nowMs: number): void {
    const container = this.recognition.begun ? undefined : containerOf(audio);
    if (container !== undefined) {
      const message = `Audio is raw samples in the session's format; this is ${container}.`;
      const error = new DomainError('invalid_audio', message);
      return this.session.fail(error, CLOSE.unsupportedData);
    }
    try {
      this.recognition.audio(audio, nowMs);
    } catch (error) {
      if (!(error instanceof DomainError) || errorDefinition(error).retry !== 'later') throw error;
      this.session.fail(error, CLOSE.tryAgainLater);
    }
  }

  /** A text that the next response speaks. @throws DomainError `queue_full` */
  #add(text: string, id: string = newItemId()): void {
    if (this.#texts.length >= MAX_ITEMS)
      throw new DomainError(
        'queue_full',
        `${MAX_ITEMS} items wait to be spoken; send response.create first.`,
      );
    this.#texts.push(text);
    const item = { ...userItem(id, null), content: [{ type: 'input_text', text }] };
    const about = { previous_item_id: this.recognition.items.follow(id), item };
    this.session.send({ type: 'conversation.item.added', ...about });
    this.session.send({ type: 'conversation.item.done', ...about });
  }

  /**
   * @throws DomainError when one is being spoken, and about the text, the voice
   *   or the model.
   */
  #respond({
    text: given,
    voice,
    metadata,
  }: Extract<ClientEvent, { type: 'response.create' }>['speech']): void {
    const active = this.session.response;
    if (active)
      throw new DomainError(
        'conversation_already_has_active_response',
        `The response ${active.id} is still being spoken.`,
      );
    const text = given ?? this.#texts.join('\n');
    if (text === '') throw missingField('response.input', ': the text to speak');
    const id = `resp_${randomBytes(12).toString('hex')}`;
    const { speed, voice: usual } = this.config;
    try {
      this.session.speak({ id, text, voice: voice ?? usual, speed, metadata });
      if (given === undefined) this.#texts = [];
    } catch (error) {
      throw given === undefined ? this.#unspeakable(error) : error;
    }
  }

  /** Items that cannot be spoken are dropped: they would be a part of each later response. */
  #unspeakable(error: unknown): unknown {
    if (!(error instanceof DomainError) || error.param !== 'input') return error;
    this.#texts = [];
    const message = `${error.message} The items that waited to be spoken are dropped.`;
    return new DomainError(error.code, message, { param: 'response.input', cause: error });
  }

  /** @throws DomainError `response_cancel_not_active` */
  #cancel(responseId: string | undefined): void {
    const active = this.session.response;
    if (!active || (responseId !== undefined && responseId !== active.id))
      throw new DomainError('response_cancel_not_active', 'No such response is being spoken.', {
        param: 'response_id',
      });
    active.cancel('client_cancelled');
  }

  #warn({ paths }: IgnoredFields): void {
    if (paths.length > 0) this.session.send(ignoredWarning(paths));
  }
}

/** The container format of a first binary frame; undefined: it looks like raw audio. */
function containerOf(frame: Buffer): string | undefined {
  return CONTAINERS.find(([magic]) => frame.subarray(0, magic.length).equals(magic))?.[1];
}
