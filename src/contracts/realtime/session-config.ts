import { pathText, readObject, unsupportedField } from '@switchyard/engine-api/field-problems.js';
import { type z } from 'zod';
import { wantedLanguage } from '../formats/language-name.js';
import { IgnoredFields } from '../openai/ignored-fields.js';
import { type AudioFormat, requirePcm24 } from './audio-format.js';
import { NO_CHAT, objectWith, OLDER_SESSION_FIELDS, SESSION_FIELDS } from './session-fields.js';

const SESSION = objectWith(SESSION_FIELDS.session);

const OLDER_SESSION = objectWith(OLDER_SESSION_FIELDS.session);

/** Voice activity that ends utterances; milliseconds. */
interface TurnDetection {
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
  format: { encoding: 'pcm16', sampleRate: 24_000 },
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
 * @param ignored absent: nothing may be ignored
 * @throws DomainError naming the field; nothing is applied then.
 */
export function readSession(
  value: unknown,
  current: SessionConfig,
  ignored = new IgnoredFields(true),
): SessionConfig {
  const session = readObject(SESSION, value, 'session');
  const { input, output } = session.audio ?? {};
  requirePcm24(output?.format, 'session.audio.output.format.type');
  const path = 'session.audio.input';
  const base = { ...current, type: session.type };
  const next = {
    ...base,
    ...transcriptionOf(input?.transcription, base, ignored, `${path}.transcription`),
    turnDetection: turnsOf(input?.turn_detection, base, ignored, `${path}.turn_detection`),
    format: input?.format ?? current.format,
    voice: output?.voice ?? current.voice,
    speed: output?.speed ?? current.speed,
  };
  if (input) ignored.settle(SESSION_FIELDS[path], input, path);
  ignored.settle(SESSION_FIELDS.session, session, 'session');
  return { ...next, model: session.model ?? next.model };
}

/**
 * The `session` of the older dialect's
 * `transcription_session.update`. @throws DomainError
 */
export function readOlderSession(
  value: unknown,
  current: SessionConfig,
  ignored = new IgnoredFields(true),
  path = 'session',
): SessionConfig {
  const session = readObject(OLDER_SESSION, value, path);
  requirePcm24(session.output_audio_format, pathText(['output_audio_format'], path));
  const transcription = transcriptionOf(
    session.input_audio_transcription,
    current,
    ignored,
    pathText(['input_audio_transcription'], path),
  );
  const turnDetection = turnsOf(
    session.turn_detection,
    current,
    ignored,
    pathText(['turn_detection'], path),
  );
  ignored.settle(OLDER_SESSION_FIELDS.session, session, path);
  return {
    ...current,
    ...transcription,
    turnDetection,
    format: session.input_audio_format ?? current.format,
    voice: session.voice ?? current.voice,
    speed: session.speed ?? current.speed,
  };
}

type OlderSession = z.output<typeof OLDER_SESSION>;

function transcriptionOf(
  fields: OlderSession['input_audio_transcription'] = {},
  current: SessionConfig,
  ignored: IgnoredFields,
  path: string,
) {
  const { model, language, languages, prompt } = fields;
  ignored.settle(OLDER_SESSION_FIELDS['session.input_audio_transcription'], fields, path);
  return {
    model: model ?? current.model,
    language: language === undefined ? current.language : (wantedLanguage(language) ?? ''),
    prompt: prompt ?? current.prompt,
    ...(languages && { languages }),
  };
}

/** @param fields null: off */
function turnsOf(
  fields: OlderSession['turn_detection'],
  { type, turnDetection }: SessionConfig,
  ignored: IgnoredFields,
  path: string,
): TurnDetection | null {
  if (!fields) return fields === null ? null : turnDetection;
  const current = turnDetection ?? TURN_DETECTION;
  if (fields.type === 'semantic_vad')
    ignored.ignore(`${path}.type`, 'turns are detected by `server_vad` only');
  // Transcription sessions have no responses, at OpenAI either; another session would
  // wait for one.
  const responds = `${path}.create_response`;
  if (fields.create_response && type === 'realtime') throw unsupportedField(responds, NO_CHAT);
  if (fields.create_response) ignored.ignore(responds, NO_CHAT);
  ignored.settle(OLDER_SESSION_FIELDS['session.turn_detection'], fields, path);
  return changedTurns(current, fields);
}

const changedTurns = (
  current: TurnDetection,
  fields: NonNullable<OlderSession['turn_detection']>,
): TurnDetection => ({
  threshold: fields.threshold ?? current.threshold,
  prefixPaddingMs: fields.prefix_padding_ms ?? current.prefixPaddingMs,
  silenceDurationMs: fields.silence_duration_ms ?? current.silenceDurationMs,
  interruptResponse: fields.interrupt_response ?? current.interruptResponse,
});
