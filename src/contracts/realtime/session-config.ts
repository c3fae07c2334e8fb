import { DomainError } from '../../core/errors/domain-error.js';
import { wantedLanguage } from '../formats/language-name.js';
import { type IgnoredFields } from '../openai/field-rules.js';
import {
  type AudioFormat,
  PCM_24K,
  readAudioFormat,
  readOlderAudioFormat,
} from './audio-format.js';
import { FieldReader } from './field-reader.js';
import { NO_CHAT, OLDER_SESSION_FIELDS, SESSION_FIELDS } from './session-fields.js';

/** Voice activity that ends utterances; milliseconds. */
export interface TurnDetection {
  readonly threshold: number;
  readonly prefixPaddingMs: number;
  readonly silenceDurationMs: number;
  /** Speech of the client stops a response that is being spoken. */
  readonly interruptResponse: boolean;
}

/** What a session is set to, whichever dialect it was set in. */
export interface SessionConfig {
  readonly type: 'transcription' | 'realtime';
  readonly format: AudioFormat;
  /** As the client names it; an id or an alias. */
  readonly model: string;
  readonly language: string;
  readonly prompt: string;
  /**
   * Languages that may be spoken, as the client named them; the model decides which of
   * them it can honour.
   */
  readonly languages?: readonly string[];
  /** Null: only `input_audio_buffer.commit` ends an utterance. */
  readonly turnDetection: TurnDetection | null;
  readonly voice: string;
  /** 0.25..1.5 */
  readonly speed: number;
}

const TURN_DETECTION: TurnDetection = {
  threshold: 0.5,
  prefixPaddingMs: 300,
  silenceDurationMs: 500,
  interruptResponse: true,
};

export const defaultSession = (model: string): SessionConfig => ({
  type: 'transcription',
  format: PCM_24K,
  model,
  language: '',
  prompt: '',
  turnDetection: TURN_DETECTION,
  voice: 'alloy',
  speed: 1,
});

/**
 * The `session` of GA's `session.update`, applied to `current`; absent fields
 * keep their value.
 * @throws DomainError naming the field; nothing is applied then.
 */
export function readSession(
  value: unknown,
  current: SessionConfig,
  ignored?: IgnoredFields,
): SessionConfig {
  const session = new FieldReader(value, 'session', ignored);
  const type = session.oneOf('type', ['transcription', 'realtime']);
  if (type === undefined) throw session.missing('type');
  const audio = session.object('audio');
  const input = audio?.object('input');
  const output = audio?.object('output');
  const typed = { ...current, type };
  const next = {
    ...typed,
    ...(input && readInput(input, typed)),
    ...(output && readOutput(output, current)),
  };
  audio?.done();
  const model = session.string('model', 256);
  session.settle(SESSION_FIELDS.session);
  readModalities(session, 'output_modalities');
  session.done();
  return model === undefined ? next : { ...next, model };
}

/**
 * The `session` of the older dialect's
 * `transcription_session.update`. @throws DomainError
 */
export function readOlderSession(
  value: unknown,
  current: SessionConfig,
  ignored?: IgnoredFields,
  path = 'session',
): SessionConfig {
  const session = new FieldReader(value, path, ignored);
  const format = readOlderAudioFormat(session, 'input_audio_format');
  requireOlderPcm24(session);
  const transcription = session.object('input_audio_transcription');
  const next = {
    ...current,
    ...(format && { format }),
    ...(transcription && readTranscription(transcription, current)),
    ...readTurns(session, current),
    ...readSpeech(session, current),
  };
  session.settle(OLDER_SESSION_FIELDS.session);
  readModalities(session, 'modalities');
  session.raw('client_secret');
  session.done();
  return next;
}

function readInput(input: FieldReader, current: SessionConfig): Partial<SessionConfig> {
  const format = input.object('format');
  const transcription = input.object('transcription');
  if (input.isNull('transcription'))
    throw input.refusal('transcription', 'transcribing cannot be turned off');
  const read = {
    ...(format && { format: readAudioFormat(format) }),
    ...(transcription && readTranscription(transcription, current)),
    ...readTurns(input, current),
  };
  input.settle(SESSION_FIELDS['session.audio.input']);
  input.done();
  return read;
}

function readOutput(output: FieldReader, current: SessionConfig): Partial<SessionConfig> {
  const format = output.object('format');
  if (format) requirePcm24(format);
  const read = readSpeech(output, current);
  output.done();
  return read;
}

const readSpeech = (fields: FieldReader, current: SessionConfig) => ({
  voice: readVoice(fields) ?? current.voice,
  speed: fields.number('speed', 0.25, 1.5) ?? current.speed,
});

/** A voice by name or as `{id}`. @throws DomainError */
export function readVoice(fields: FieldReader): string | undefined {
  if (typeof fields.raw('voice') === 'string') return fields.string('voice', 128);
  const custom = fields.object('voice');
  const id = custom?.string('id', 128);
  custom?.done();
  return id;
}

/** Speech leaves as the synthesisers make it. @throws DomainError */
export function requirePcm24(fields: FieldReader): void {
  const { encoding, sampleRate } = readAudioFormat(fields);
  if (encoding !== 'pcm16' || sampleRate !== 24_000)
    throw onlyPcm24(fields.pathOf('type'));
}

/** The same of the older dialect. @throws DomainError */
export function requireOlderPcm24(fields: FieldReader): void {
  const name = 'output_audio_format';
  const format = readOlderAudioFormat(fields, name);
  if (format && format.encoding !== 'pcm16') throw onlyPcm24(fields.pathOf(name));
}

const onlyPcm24 = (param: string): DomainError =>
  new DomainError(
    'unsupported_parameter',
    'Speech is sent as audio/pcm at 24000 Hz only.',
    { param },
  );

function readTranscription(
  fields: FieldReader,
  current: SessionConfig,
): Partial<SessionConfig> {
  const language = fields.string('language', 35);
  const read = {
    model: fields.string('model', 256) ?? current.model,
    language:
      language === undefined ? current.language : (wantedLanguage(language) ?? ''),
    prompt: fields.string('prompt', 4096) ?? current.prompt,
  };
  fields.settle(SESSION_FIELDS['session.audio.input.transcription']);
  const languages = fields.strings('languages', { most: 100, longest: 35 });
  fields.done();
  return { ...read, ...(languages && { languages }) };
}

function readTurns(fields: FieldReader, current: SessionConfig): Partial<SessionConfig> {
  if (fields.isNull('turn_detection')) return { turnDetection: null };
  const turns = fields.object('turn_detection');
  return turns ? { turnDetection: readTurnDetection(turns, current) } : {};
}

function readTurnDetection(
  fields: FieldReader,
  { type, turnDetection }: SessionConfig,
): TurnDetection {
  const current = turnDetection ?? TURN_DETECTION;
  const wanted = fields.oneOf('type', ['server_vad', 'semantic_vad']);
  if (wanted === 'semantic_vad')
    fields.ignore('type', 'turns are detected by `server_vad` only');
  const read = {
    threshold: fields.number('threshold', 0, 1) ?? current.threshold,
    prefixPaddingMs:
      fields.integer('prefix_padding_ms', 0, 5000) ?? current.prefixPaddingMs,
    silenceDurationMs:
      fields.integer('silence_duration_ms', 50, 10_000) ?? current.silenceDurationMs,
    interruptResponse: fields.boolean('interrupt_response') ?? current.interruptResponse,
  };
  if (fields.boolean('create_response') === true) answerCreateResponse(fields, type);
  fields.settle(SESSION_FIELDS['session.audio.input.turn_detection']);
  fields.done();
  return read;
}

/**
 * Transcription sessions have no responses, at OpenAI either; another session would
 * wait for one.
 */
function answerCreateResponse(fields: FieldReader, type: SessionConfig['type']): void {
  if (type === 'realtime') throw fields.refusal('create_response', NO_CHAT);
  fields.ignore('create_response', NO_CHAT);
}

/** Only what is done anyway may be asked for. */
function readModalities(fields: FieldReader, name: string): void {
  const value = fields.raw(name);
  if (value === undefined) return;
  const known =
    Array.isArray(value) && value.every(one => one === 'text' || one === 'audio');
  if (!known) throw fields.invalid(name, 'must be a list of "text" and "audio"');
}
