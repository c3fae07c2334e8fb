import { EVENT_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import {
  invalidField,
  missingField,
  readObject,
  unsupportedField,
  wrongField,
} from '@switchyard/engine-api/field-problems.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { OBJECT, objectOf } from '@switchyard/engine-api/rules.js';
import { type z } from 'zod';
import { DomainError } from '../../core/errors/domain-error.js';
import { errorDefinition } from '../errors/error-registry.js';
import { IgnoredFields } from '../openai/ignored-fields.js';
import { requirePcm24 } from './audio-format.js';
import { EVENT_FIELDS, GIVEN, NO_CHAT, objectWith } from './session-fields.js';
import { type Dialect } from './session-view.js';

/** What events of the client are read by, besides their type and id. */
const EVENTS = {
  update: objectOf({ session: GIVEN }),
  append: objectWith(EVENT_FIELDS['input_audio_buffer.append']),
  plain: objectOf({}),
  create: objectWith(EVENT_FIELDS['conversation.item.create']),
  respond: objectWith(EVENT_FIELDS['response.create']),
  cancel: objectWith(EVENT_FIELDS['response.cancel']),
} as const;

/** What `response.create` asks to be spoken. */
interface SpeechFields {
  /** Absent: what `conversation.item.create` has added since the last response. */
  readonly text?: string;
  /** Absent: the session's. */
  readonly voice?: string;
  readonly metadata: Fields | null;
}

export type ClientEvent =
  | {
      readonly type: 'session.update' | 'transcription_session.update';
      readonly session: unknown;
    }
  | { readonly type: 'input_audio_buffer.append'; readonly audio: Buffer }
  | { readonly type: 'input_audio_buffer.commit' | 'input_audio_buffer.clear' }
  | {
      readonly type: 'conversation.item.create';
      readonly id: string | undefined;
      readonly text: string;
    }
  | { readonly type: 'response.create'; readonly speech: SpeechFields }
  | { readonly type: 'response.cancel'; readonly responseId: string | undefined };

/**
 * One message before its fields are read: enough to name the event that an
 * error is about.
 */
interface ClientEnvelope {
  /** Type of the event; undefined: it has none, so `readClientEvent` refuses it. */
  readonly type: string | undefined;
  readonly eventId: string | undefined;
  readonly fields: unknown;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** @throws DomainError `invalid_json`, `invalid_value`; the session continues. */
export function openEnvelope(message: string): ClientEnvelope {
  const { type, event_id: id, ...fields } = readObject(OBJECT, parsed(message));
  return {
    type: typeof type === 'string' ? type : undefined,
    eventId: typeof id === 'string' && id.length <= 512 ? id : undefined,
    fields,
  };
}

/**
 * @param ignored gets the fields that only advise and have no effect; absent: nothing may
 *   be ignored
 * @throws DomainError naming the field at fault.
 */
export function readClientEvent(
  { type, fields }: ClientEnvelope,
  ignored = new IgnoredFields(true),
): ClientEvent {
  switch (type) {
    case undefined:
      throw missingField('type');
    case 'session.update':
    case 'transcription_session.update':
      return { type, session: readObject(EVENTS.update, fields).session };
    case 'input_audio_buffer.append':
      return { type, audio: audioOf(readObject(EVENTS.append, fields).audio) };
    case 'input_audio_buffer.commit':
    case 'input_audio_buffer.clear':
      readObject(EVENTS.plain, fields);
      return { type };
    case 'conversation.item.create':
      return { type, ...readObject(EVENTS.create, fields).item };
    case 'response.create':
      return { type, speech: speechOf(readObject(EVENTS.respond, fields), ignored) };
    case 'response.cancel':
      return { type, responseId: readObject(EVENTS.cancel, fields).response_id };
    default:
      throw wrongField('type', type, 'must be a client event that transcription sessions take');
  }
}

function parsed(message: string): unknown {
  try {
    return parseBoundedJson(message, EVENT_BOUNDS);
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new DomainError(
      'invalid_json',
      'The message is not JSON; audio may also be sent as binary frames.',
    );
  }
}

function audioOf(audio: unknown): Buffer {
  if (typeof audio !== 'string' || audio.length % 4 !== 0 || !BASE64.test(audio))
    throw invalidField('audio', '`audio` must be base64.');
  return Buffer.from(audio, 'base64');
}

function speechOf(
  { response }: z.output<typeof EVENTS.respond>,
  ignored: IgnoredFields,
): SpeechFields {
  if (!response) return { metadata: null };
  const { input: text, audio, metadata = null } = response;
  const voice = audio?.output?.voice ?? response.voice;
  requirePcm24(audio?.output?.format, 'response.audio.output.format.type');
  requirePcm24(response.output_audio_format, 'response.output_audio_format');
  ignored.settle(EVENT_FIELDS['response.create: response'], response, 'response');
  const name = response.output_modalities === undefined ? 'modalities' : 'output_modalities';
  const modalities = response[name];
  if (Array.isArray(modalities) && !modalities.includes('audio'))
    throw unsupportedField(`response.${name}`, NO_CHAT);
  return { text, voice, metadata };
}

/**
 * Why a realtime socket is closed (RFC 6455 §7.4.1). The WebSocket library itself closes
 * with 1007 and 1009.
 */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  unsupportedData: 1003,
  policyViolation: 1008,
  internalError: 1011,
  tryAgainLater: 1013,
} as const;

export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE];

/** A server event without its `event_id`, which it gets when it is sent. */
export interface ServerEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** GA names whose older spelling differs. */
const OLDER_NAMES: Readonly<Record<string, string>> = {
  'conversation.item.added': 'conversation.item.created',
  'response.output_audio.delta': 'response.audio.delta',
  'response.output_audio.done': 'response.audio.done',
  'response.output_audio_transcript.delta': 'response.audio_transcript.delta',
  'response.output_audio_transcript.done': 'response.audio_transcript.done',
};

/** The event as `dialect` spells it; undefined when it has no such event. */
export function inDialect(event: ServerEvent, dialect: Dialect): ServerEvent | undefined {
  if (dialect === 'ga') return event;
  if (event.type === 'conversation.item.done') return undefined;
  const type = OLDER_NAMES[event.type];
  return type === undefined ? event : { ...event, type };
}

/** @param eventId the client event at fault, where one is */
export const errorEvent = (error: DomainError, eventId?: string): ServerEvent => ({
  type: 'error',
  error: {
    type: errorDefinition(error).type,
    code: error.code,
    message: error.message,
    param: error.param ?? null,
    event_id: eventId ?? null,
    ...(errorDefinition(error).retry === 'later' && {
      retry_after_ms: Math.round(error.retryAfterMs ?? 1000),
    }),
  },
});

/** An extension: a notice while the session continues. Official clients ignore it. */
export const warningEvent = (code: string, message: string): ServerEvent => ({
  type: 'session.warning',
  warning: { code, message },
});

/** A field that only advises was accepted and has no effect (D-34). */
export const ignoredWarning = (paths: readonly string[]): ServerEvent => ({
  type: 'session.warning',
  warning: {
    code: 'fields_ignored',
    message: `Accepted without effect: ${paths.join(', ')}.`,
    params: paths,
  },
});

/** Speech of the user as an item of the conversation. */
export const userItem = (id: string, transcript: string | null): Record<string, unknown> => ({
  id,
  object: 'realtime.item',
  type: 'message',
  status: 'completed',
  role: 'user',
  content: [{ type: 'input_audio', transcript }],
});
