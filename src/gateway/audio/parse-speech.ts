import { REQUEST_FIELDS } from '../../contracts/openai/request-fields.js';
import { SpeechDto } from '../../contracts/openai/speech.dto.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { parseDto } from '../http/dto-validation.js';
import { bodyFields } from '../http/json-body.js';
import { type InferenceWork } from '../inference/inference.service.js';
import { demandAbilities, demandsOf, type Strictness } from '../models/model-abilities.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import { type SpeechSink } from '../worker-pool/worker-task.js';

interface ParsedSpeech {
  readonly model: ModelSpec;
  readonly dto: SpeechDto;
  /** Engine voice id. */
  readonly voice: string;
  /** Fields that only advise and that this model cannot use. */
  readonly ignored: readonly string[];
}

/** @throws DomainError for the first thing wrong with the body. */
export function parseSpeech(body: unknown, catalog: ModelCatalog, compat?: Strictness): ParsedSpeech {
  const dto = parseDto(SpeechDto, bodyFields(body));
  const model = catalog.getOfKind(dto.model, 'tts');
  const wanted = { instructions: dto.instructions !== '', speed: dto.speed !== 1 };
  const ignored = demandAbilities(model, demandsOf(REQUEST_FIELDS['POST /v1/audio/speech'], wanted), catalog, compat);
  return { model, dto, voice: engineVoice(model, dto.voice), ignored };
}

/**
 * Resolves a client name, case-insensitively, or an engine's voice id. If the model lists no voices, its engine
 * decides.
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

/** 15 characters take about a second: enough for a time limit, long before anything is spoken. */
const CHARACTERS_PER_S = 15;

/** What the scheduler and the worker need. The expected duration decides the inference deadline (D-07). */
export function speechWork({ model, dto, voice }: ParsedSpeech, sink: SpeechSink): InferenceWork {
  const { input: text, speed, response_format: format } = dto;
  return {
    model: model.id,
    bytes: Buffer.byteLength(text),
    audioDurationS: text.length / CHARACTERS_PER_S / speed,
    payload: { kind: 'synthesize', text, voice, speed, format, sink },
  };
}
