import { invalidField, unsupportedField } from '@switchyard/engine-api/field-problems.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { SpeechDto } from '../../contracts/openai/speech.dto.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type SpeechSink } from '../../worker-client/worker-task.js';
import { type InferenceCaller, type InferenceService } from '../inference/inference.service.js';
import { type OutputForm, OutputStream } from '../inference/output-stream.js';
import { type Strictness, requestParser } from '../models/model-abilities.js';
import { isPassedOn, type ModelCatalog } from '../models/model-catalog.js';
import { textOfSsml } from './speech-markup.js';

/** Sends the pieces that the worker made, and nothing else. */
const UNCHANGED: OutputForm = {
  format: chunk => chunk,
  lastFrame: () => undefined,
};

/** Five minutes of PCM: voices speak faster than callers play. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

/**
 * Synthesised audio as it is made. A failure destroys the stream: the caller must not
 * take the audio as complete.
 */
class SpeechStream extends OutputStream implements SpeechSink {
  readonly audio = this;
  #hasAudio = false;

  constructor() {
    super(UNCHANGED, MAX_BUFFERED_BYTES);
  }

  /**
   * Called when a worker begins. After audio was sent, a second worker (a retry) is
   * rejected: the caller would hear the sentence start over.
   * @throws DomainError `worker_lost`
   */
  header(): void {
    if (this.#hasAudio)
      throw new DomainError('worker_lost', 'The worker died in the middle of the speech.');
  }

  override fail(error: DomainError): void {
    this.destroy(error);
  }

  override _writev(...args: Parameters<OutputStream['_writev']>): void {
    this.#hasAudio = true;
    super._writev(...args);
  }
}

const parse = requestParser(SpeechDto, 'tts');

/** @throws DomainError for the first thing wrong with the body. */
export function parseSpeech(body: Fields, catalog: ModelCatalog, compat?: Strictness) {
  const { model, dto, ignored } = parse(body, catalog, compat);
  /** Engine voice id. */
  const voice = engineVoice(model, dto.voice);
  const text = isPassedOn(model) ? undefined : textOfSsml(dto.input);
  if (text === undefined) return { model, dto, ignored, voice };
  if (compat?.strict) throw unsupportedField('input', 'the tags of SSML have no effect here');
  if (text === '')
    throw invalidField('input', '`input` must hold something to say, not only tags.');
  return { model, dto: { ...dto, input: text }, ignored: [...ignored, 'input.ssml'], voice };
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
 * Audio as the worker makes it. The expected duration decides the inference deadline
 * (D-07).
 */
export function startSpeech(
  inference: InferenceService,
  caller: InferenceCaller,
  { model, dto, voice }: ReturnType<typeof parseSpeech>,
) {
  const { input: text, speed, response_format: format } = dto;
  const audio = new SpeechStream();
  const work = {
    model: model.id,
    bytes: Buffer.byteLength(text),
    audioDurationS: text.length / CHARACTERS_PER_S / speed,
    payload: { kind: 'synthesize', text, voice, speed, format, sink: audio },
  } as const;
  return { audio, request: inference.start(caller, work, { output: audio }) };
}
