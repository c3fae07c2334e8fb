import { bytesOf, RECOGNISER_RATE } from '@switchyard/engine-api/audio/pcm.js';
import { wavHeader } from '@switchyard/engine-api/audio/wav-header.js';
import { VECTOR_BOUNDS } from '@switchyard/engine-api/bounded-json.js';
import { type ItemOutcome, TRANSCRIPT_CAPABILITIES } from '@switchyard/engine-api/engine.js';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import {
  type KnownVoice,
  type SpeechRecognizer,
  type TranscribeItem,
  type RecognizedTranscript,
} from '@switchyard/engine-api/speech-recognizer.js';
import { errorDefinition } from '../../../contracts/errors/error-registry.js';
import { type FormField, formFrame } from '../../../contracts/formats/form-frame.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type RetryTiming } from '../../../platform/http/retry-after.js';
import { type OpenAiHttpOptions } from './options.js';
import { transcriptIn } from './transcript-answer.js';
import { UpstreamEngine } from './upstream-engine.js';
import { type RequestBody, textOf } from './upstream-exchange.js';
import { unusableAnswer } from './upstream-failure.js';

export function multipartBody(
  file: Uint8Array,
  filename: string,
  fields: readonly FormField[],
): RequestBody {
  const { contentType, head, tail } = formFrame(fields, filename || 'audio');
  return { contentType, parts: [head, file, tail] };
}

type ResponseFormat = 'verbose_json' | 'json' | 'diarized_json';

/** The one format that carries what was asked for, else as much as the upstream can. */
const formatOf = ({ diarize, logprobs }: TranscribeItem, richest: ResponseFormat): ResponseFormat =>
  diarize ? 'diarized_json' : logprobs ? 'json' : richest;

/**
 * Defaults are left out: a server that does not know a field may refuse it.
 * @param richest format that the upstream is known to have
 */
export function fieldsOf(
  item: TranscribeItem,
  model: string,
  richest: ResponseFormat,
): readonly FormField[] {
  const { language, prompt, temperature, wordTimestamps, hotWords = [] } = item;
  const format = formatOf(item, richest);
  const isTimed = wordTimestamps && format === 'verbose_json';
  return [
    ['model', model],
    ['response_format', format],
    ...unlessDefault('language', language, ''),
    ...unlessDefault('prompt', prompt, ''),
    ...unlessDefault('temperature', String(temperature), '0'),
    ...named('timestamp_granularities[]', isTimed ? ['word', 'segment'] : []),
    ...named('include[]', item.logprobs ? ['logprobs'] : []),
    ...named('keywords[]', hotWords),
    ...chunkingFields(item),
    ...(format === 'diarized_json' ? speakerFields(item) : []),
  ];
}

const named = (name: string, values: readonly string[]): readonly FormField[] =>
  values.map(value => [name, value]);

const unlessDefault = (name: string, value: string, unset: string): readonly FormField[] =>
  value === unset ? [] : [[name, value]];

/** OpenAI refuses speakers in more than 30 s without a strategy. */
function chunkingFields({ chunking, diarize }: TranscribeItem): readonly FormField[] {
  if (!chunking) return diarize ? [['chunking_strategy', 'auto']] : [];
  return [
    ['chunking_strategy[type]', 'server_vad'],
    ['chunking_strategy[threshold]', String(chunking.threshold)],
    ['chunking_strategy[prefix_padding_ms]', String(chunking.prefixPaddingMs)],
    ['chunking_strategy[silence_duration_ms]', String(chunking.silenceDurationMs)],
  ];
}

const speakerFields = ({ knownSpeakers = [] }: TranscribeItem): readonly FormField[] => [
  ...named(
    'known_speaker_names[]',
    knownSpeakers.map(({ name }) => name),
  ),
  ...named('known_speaker_references[]', knownSpeakers.map(dataUrl)),
];

function dataUrl({ samples }: KnownVoice): string {
  const wav = Buffer.concat([wavHeader(RECOGNISER_RATE, samples.byteLength), bytesOf(samples)]);
  return `data:audio/wav;base64,${wav.toString('base64')}`;
}

type Encoded = Extract<TranscribeItem['audio'], { kind: 'encoded' }>;

/** Four hours of words with times take a tenth of this. */
const MAX_ANSWER_BYTES = 67_108_864;

/** Recognition at an OpenAI-compatible server, which gets the upload as it came. */
export class OpenAiHttpRecognizer extends UpstreamEngine implements SpeechRecognizer {
  readonly kind = 'stt';
  readonly input = 'encoded';
  /** `json` once the upstream has refused more: then no upload is sent twice. */
  #format: ResponseFormat = 'verbose_json';

  constructor(options: OpenAiHttpOptions, timing?: RetryTiming) {
    // The entry in models.yaml tells what of it the upstream has.
    super(options, TRANSCRIPT_CAPABILITIES, timing);
  }

  transcribe(
    batch: readonly TranscribeItem[],
  ): Promise<readonly ItemOutcome<RecognizedTranscript>[]> {
    return this.each(batch, item => this.#transcript(item));
  }

  async #transcript(item: TranscribeItem): Promise<RecognizedTranscript> {
    const audio = encodedAudio(item);
    // An upstream answers 400 to it.
    if (audio.bytes.byteLength === 0)
      return { text: '', language: item.language, segments: [], words: [] };
    const transcript = await this.#inBestFormat(item, audio);
    if (transcript.text === '') return transcript;
    if (item.wordTimestamps && transcript.words.length === 0)
      throw this.#lacks('word times', 'timestamp_granularities');
    if (item.logprobs && !transcript.logprobs) throw this.#lacks('log probabilities', 'include');
    return transcript;
  }

  #lacks(what: string, param: string): DomainError {
    const message = `The upstream of model '${this.options.modelId}' gives no ${what}.`;
    return new DomainError('unsupported_parameter', message, { param });
  }

  async #inBestFormat(item: TranscribeItem, audio: Encoded): Promise<RecognizedTranscript> {
    const richest = this.#format;
    try {
      return await this.#ask(item, audio, richest);
    } catch (error) {
      if (formatOf(item, richest) !== 'verbose_json' || !isRefusalOfFormat(error)) throw error;
      this.#format = 'json';
      return this.#ask(item, audio, 'json');
    }
  }

  #ask(
    item: TranscribeItem,
    audio: Encoded,
    richest: ResponseFormat,
  ): Promise<RecognizedTranscript> {
    const { language, wordTimestamps, signal, traceparent } = item;
    const request = {
      path: item.task === 'translate' ? '/audio/translations' : '/audio/transcriptions',
      accept: 'application/json',
      body: multipartBody(audio.bytes, audio.filename, fieldsOf(item, this.options.model, richest)),
      signal,
      traceparent,
    };
    return this.call(request, async body => {
      const answer = jsonIn(await textOf(body, MAX_ANSWER_BYTES), VECTOR_BOUNDS);
      const transcript = transcriptIn(answer, {
        language: item.task === 'translate' ? 'en' : language,
        durationS: audio.durationS,
        wordTimestamps,
      });
      if (transcript) return transcript;
      throw unusableAnswer(
        this.options.modelId,
        'answered 200 without a transcript: no JSON with `text`.',
      );
    });
  }
}

function encodedAudio({ audio }: TranscribeItem): Encoded {
  if (audio.kind === 'encoded') return audio;
  throw new DomainError(
    'engine_failed',
    'This engine takes files as they were uploaded, not samples.',
  );
}

/**
 * As gpt-4o-transcribe and older servers put it: "response_format 'verbose_json' is not
 * compatible with model …".
 */
const isRefusalOfFormat = (error: unknown): boolean =>
  error instanceof DomainError &&
  errorDefinition(error).retry === 'never' &&
  (error.param === 'response_format' || /response_format|verbose_json/i.test(error.message));
