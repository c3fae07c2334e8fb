import { EVENT_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type IgnoredFields } from '../openai/field-rules.js';
import { FieldReader } from './field-reader.js';
import { readVoice, requireOlderPcm24, requirePcm24 } from './session-config.js';
import { EVENT_FIELDS, NO_CHAT } from './session-fields.js';

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
export interface ClientEnvelope {
  /** Undefined: there was none, which `readClientEvent` refuses. */
  readonly type: string | undefined;
  readonly eventId: string | undefined;
  readonly fields: FieldReader;
}

/** Longest text of one response, as in `POST /v1/audio/speech`. */
const LONGEST_TEXT = 4096;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * @param ignored gets the fields that only advise and have no effect
 * @throws DomainError `invalid_json`, `invalid_value`; the session continues.
 */
export function openEnvelope(message: string, ignored?: IgnoredFields): ClientEnvelope {
  const fields = new FieldReader(parsed(message), '', ignored);
  const id = fields.raw('event_id');
  const eventId = typeof id === 'string' && id.length <= 512 ? id : undefined;
  const type = fields.raw('type');
  return { type: typeof type === 'string' ? type : undefined, eventId, fields };
}

/** @throws DomainError naming the field at fault. */
export function readClientEvent({ type, fields }: ClientEnvelope): ClientEvent {
  if (type === undefined) throw fields.missing('type');
  const event = readKnown(type, fields);
  fields.done();
  return event;
}

function readKnown(type: string, fields: FieldReader): ClientEvent {
  switch (type) {
    case 'session.update':
    case 'transcription_session.update':
      if (!fields.has('session')) throw fields.missing('session');
      return { type, session: fields.raw('session') };
    case 'input_audio_buffer.append':
      return { type, audio: readAudio(fields) };
    case 'input_audio_buffer.commit':
    case 'input_audio_buffer.clear':
      return { type };
    case 'conversation.item.create':
      return { type, ...readNewItem(fields) };
    case 'response.create':
      return { type, speech: readSpeech(fields.object('response')) };
    case 'response.cancel':
      return { type, responseId: fields.string('response_id', 128) };
    default:
      throw fields.invalid(
        'type',
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

function readAudio(fields: FieldReader): Buffer {
  const audio = fields.raw('audio');
  if (audio === undefined) throw fields.missing('audio');
  if (typeof audio !== 'string' || audio.length % 4 !== 0 || !BASE64.test(audio))
    throw new DomainError('invalid_value', '`audio` must be base64.', { param: 'audio' });
  return Buffer.from(audio, 'base64');
}

function readNewItem(fields: FieldReader): { id: string | undefined; text: string } {
  const item = fields.object('item');
  if (!item) throw fields.missing('item');
  fields.settle(EVENT_FIELDS['conversation.item.create']);
  const id = item.string('id', 64);
  return { id, text: readMessage(item) };
}

function readSpeech(response: FieldReader | undefined): SpeechFields {
  if (!response) return { metadata: null };
  const input = response.objects('input', 100);
  const text = input?.map(readMessage).join('\n');
  if (text !== undefined && text.length > LONGEST_TEXT)
    throw response.invalid(
      'input',
      `must have at most ${LONGEST_TEXT} characters of text in all`,
    );
  const voice = readOutputVoice(response);
  const metadata = (response.object('metadata') && response.raw('metadata')) as
    SpeechFields['metadata'] | undefined;
  response.oneOf('conversation', ['auto', 'none']);
  requireOlderPcm24(response);
  response.settle(EVENT_FIELDS['response.create: response']);
  demandAudio(response);
  response.done();
  return {
    ...(text !== undefined && { text }),
    ...(voice !== undefined && { voice }),
    metadata: metadata ?? null,
  };
}

function readOutputVoice(response: FieldReader): string | undefined {
  const audio = response.object('audio');
  const output = audio?.object('output');
  const format = output?.object('format');
  if (format) requirePcm24(format);
  const voice = output && readVoice(output);
  output?.done();
  audio?.done();
  return voice ?? readVoice(response);
}

function demandAudio(response: FieldReader): void {
  const [newer, older] = [response.raw('output_modalities'), response.raw('modalities')];
  const modalities = newer ?? older;
  if (Array.isArray(modalities) && !modalities.includes('audio'))
    throw response.refusal(
      newer === undefined ? 'modalities' : 'output_modalities',
      NO_CHAT,
    );
}

/** The text of a user or assistant message. */
function readMessage(item: FieldReader): string {
  item.oneOf('type', ['message']);
  item.oneOf('role', ['user', 'assistant', 'system']);
  for (const name of ['object', 'status', 'id']) item.raw(name);
  const parts = item.objects('content', 100) ?? [];
  const texts = parts.map(part => {
    part.oneOf('type', ['input_text', 'text', 'output_text']);
    const text = part.string('text', LONGEST_TEXT);
    if (text === undefined) throw part.missing('text');
    part.done();
    return text;
  });
  item.done();
  if (texts.length === 0) throw item.missing('content');
  return texts.join('\n');
}
