import { randomUUID } from 'node:crypto';
import { bytesOf, RECOGNISER_RATE } from '../../audio/pcm.js';
import { wavHeader } from '../../audio/wav.js';
import { type KnownVoice, type TranscribeItem } from '../engine.js';
import { type RequestBody } from './upstream-exchange.js';

interface UploadForm {
  readonly file: Uint8Array;
  readonly filename: string;
  /** A name may come more than once. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** `multipart/form-data` around the untouched upload: 25 MB are referred to, not copied, and the length is known beforehand. */
export function multipartBody({ file, filename, fields }: UploadForm): RequestBody {
  const boundary = `switchyard-${randomUUID()}`;
  const parts = fields.map(([name, value]) => `${header(boundary, name)}\r\n\r\n${value}\r\n`);
  const fileHeader = `${header(boundary, 'file')}; filename="${quoted(filename || 'audio')}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    parts: [Buffer.from(parts.join('') + fileHeader), file, Buffer.from(`\r\n--${boundary}--\r\n`)],
  };
}

const header = (boundary: string, name: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;

/** As browsers do it (WHATWG "multipart/form-data encoding algorithm"): a name cannot end its own quotes or line. */
const quoted = (text: string): string => text.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22');

export type ResponseFormat = 'verbose_json' | 'json' | 'diarized_json';
type Field = readonly [name: string, value: string];

/** The one format that carries what was asked for; undefined: as much as the upstream can. */
export function formatOf({ diarize, logprobs }: TranscribeItem): ResponseFormat | undefined {
  if (diarize === true) return 'diarized_json';
  return logprobs === true ? 'json' : undefined;
}

/** Defaults are left out: a server that does not know a field may refuse it. */
export function fieldsOf(item: TranscribeItem, model: string, format: ResponseFormat): readonly Field[] {
  const { language, prompt, temperature, wordTimestamps } = item;
  const fields: Field[] = [
    ['model', model],
    ['response_format', format],
  ];
  if (language !== '') fields.push(['language', language]);
  if (prompt !== '') fields.push(['prompt', prompt]);
  if (temperature !== 0) fields.push(['temperature', String(temperature)]);
  if (wordTimestamps && format === 'verbose_json') {
    for (const granularity of ['word', 'segment']) fields.push(['timestamp_granularities[]', granularity]);
  }
  if (item.logprobs === true) fields.push(['include[]', 'logprobs']);
  for (const word of item.hotWords ?? []) fields.push(['keywords[]', word]);
  fields.push(...chunkingFields(item));
  return format === 'diarized_json' ? [...fields, ...speakerFields(item)] : fields;
}

/** OpenAI refuses speakers in more than 30 s without a strategy. */
function chunkingFields({ chunking, diarize }: TranscribeItem): readonly Field[] {
  if (!chunking) return diarize === true ? [['chunking_strategy', 'auto']] : [];
  return [
    ['chunking_strategy[type]', 'server_vad'],
    ['chunking_strategy[threshold]', String(chunking.threshold)],
    ['chunking_strategy[prefix_padding_ms]', String(chunking.prefixPaddingMs)],
    ['chunking_strategy[silence_duration_ms]', String(chunking.silenceDurationMs)],
  ];
}

const speakerFields = ({ knownSpeakers = [] }: TranscribeItem): readonly Field[] => [
  ...knownSpeakers.map(({ name }): Field => ['known_speaker_names[]', name]),
  ...knownSpeakers.map((voice): Field => ['known_speaker_references[]', dataUrl(voice)]),
];

function dataUrl({ samples }: KnownVoice): string {
  const wav = Buffer.concat([wavHeader(RECOGNISER_RATE, samples.byteLength), bytesOf(samples)]);
  return `data:audio/wav;base64,${wav.toString('base64')}`;
}
