import { type Fields } from '@switchyard/engine-api/is-object.js';
import { SpeechDto } from '../../contracts/openai/speech.dto.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type InferenceWork } from '../inference/inference.service.js';
import { type Strictness } from '../models/model-abilities.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import { type ParsedRequest, requestParser } from '../models/parse-request.js';
import { type SpeechSink } from '../worker-pool/worker-task.js';

interface ParsedSpeech extends ParsedRequest<SpeechDto> {
  /** Engine voice id. */
  readonly voice: string;
}

const parse = requestParser({ type: SpeechDto, kind: 'tts' });

/** @throws DomainError for the first thing wrong with the body. */
export function parseSpeech(
  body: Fields,
  catalog: ModelCatalog,
  compat?: Strictness,
): ParsedSpeech {
  const parsed = parse(body, catalog, compat);
  return { ...parsed, voice: engineVoice(parsed.model, parsed.dto.voice) };
}

/**
 * Resolves a client name, case-insensitively, or an engine's voice id. If the model lists
 * no voices, its engine decides.
 * @throws DomainError `voice_not_found`, listing the voices.
 */
function engineVoice({ id, voices }: ModelSpec, wanted: string): string {
  if (Object.hasOwn(voices, wanted)) return voices[wanted] ?? wanted;
  const names = Object.keys(voices);
  const alike = names.find(name => name.toLowerCase() === wanted.toLowerCase());
  if (alike !== undefined) return voices[alike] ?? alike;
  if (names.length === 0 || Object.values(voices).includes(wanted)) return wanted;
  const message = `The model \`${id}\` has no voice \`${wanted}\`; its voices: ${names.join(', ')}.`;
  throw new DomainError('voice_not_found', message, { param: 'voice' });
}

/**
 * 15 characters take about a second: enough for a time limit, long before
 * anything is spoken.
 */
const CHARACTERS_PER_S = 15;

/**
 * What the scheduler and the worker need. The expected duration decides the
 * inference deadline (D-07).
 */
export function speechWork(
  { model, dto, voice }: ParsedSpeech,
  sink: SpeechSink,
): InferenceWork {
  const { input: text, speed, response_format: format } = dto;
  return {
    model: model.id,
    bytes: Buffer.byteLength(text),
    audioDurationS: text.length / CHARACTERS_PER_S / speed,
    payload: { kind: 'synthesize', text, voice, speed, format, sink },
  };
}
