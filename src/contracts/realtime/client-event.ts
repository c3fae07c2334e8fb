import { EVENT_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { type z } from 'zod';
import { DomainError } from '../../core/errors/domain-error.js';
import { IgnoredFields } from '../openai/field-rules.js';
import {
  missingField,
  readObject,
  unsupportedField,
  wrongField,
} from '../schema/read-object.js';
import { OBJECT } from '../schema/rules.js';
import { requirePcm24 } from './audio-format.js';
import { EVENT_FIELDS, EVENTS, NO_CHAT } from './session-fields.js';

/** What `response.create` asks to be spoken. */
export interface SpeechFields {
  /** Absent: what `conversation.item.create` has added since the last response. */
  readonly text?: string;
  /** Absent: the session's. */
  readonly voice?: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
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
  /** Undefined: there was none, which `readClientEvent` refuses. */
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
      throw wrongField(
        'type',
        type,
        'must be a client event that transcription sessions take',
      );
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
    throw new DomainError('invalid_value', '`audio` must be base64.', { param: 'audio' });
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
  const name =
    response.output_modalities === undefined ? 'modalities' : 'output_modalities';
  const modalities = response[name];
  if (Array.isArray(modalities) && !modalities.includes('audio'))
    throw unsupportedField(`response.${name}`, NO_CHAT);
  return {
    ...(text !== undefined && { text }),
    ...(voice !== undefined && { voice }),
    metadata,
  };
}
