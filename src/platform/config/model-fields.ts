import {
  ANYTHING,
  type ValueRule,
  FLAG,
  listOf,
  mapOf,
  matching,
  oneOf,
  optional,
  TEXT,
  wholeNumberFrom,
} from '../../core/shared/schema.js';
import {
  AUTOSTARTS,
  ENGINE_NAMES,
  type EngineName,
  LOUDNESS,
  MODEL_KINDS,
  type ModelKind,
  type ModelSpec,
  type SnakeCase,
} from './model-spec.js';
import { REMOTE, REPLICAS } from './worker-fields.js';

/** What an engine can be asked for; mirrors `EngineCapability` of the engine contract (a spec compares them). */
export const MODEL_CAPABILITIES = [
  'transcribe',
  'translate',
  'word_timestamps',
  'prompt',
  'hot_words',
  'temperature',
  'logprobs',
  'diarize',
  'stream',
  'speech',
  'speed',
  'chat',
  'completions',
  'tools',
  'embeddings',
  'dimensions',
] as const;

/** The kinds of work each engine does. */
export const ENGINE_KINDS: Readonly<Record<EngineName, readonly ModelKind[]>> = {
  pocketsphinx: ['stt'],
  flite: ['tts'],
  'whisper-onnx': ['stt'],
  'sherpa-onnx': ['stt', 'tts'],
  'llama-cpp': ['llm', 'embedding'],
  'openai-http': ['stt', 'tts', 'llm', 'embedding'],
  synthetic: ['stt', 'tts', 'llm', 'embedding'],
};

/** The kinds of work a capability belongs to; a model of another kind cannot have it. */
export const CAPABILITY_KINDS: Readonly<Record<(typeof MODEL_CAPABILITIES)[number], readonly ModelKind[]>> = {
  transcribe: ['stt'],
  translate: ['stt'],
  word_timestamps: ['stt'],
  prompt: ['stt'],
  hot_words: ['stt'],
  temperature: ['stt'],
  logprobs: ['stt', 'llm'],
  diarize: ['stt'],
  stream: ['stt'],
  speech: ['tts'],
  speed: ['tts'],
  chat: ['llm'],
  completions: ['llm'],
  tools: ['llm'],
  embeddings: ['embedding'],
  dimensions: ['embedding'],
};

export interface ModelField extends ValueRule {
  /** What the field does and when to set it: its row in docs/reference/models-yaml.md. */
  readonly help: string;
  /** What leaving it out means, in words; required fields have none. */
  readonly default?: string;
}

const NAME_RULE = 'letters, digits and . _ : / -, starting with a letter or digit, at most 128';
const NAME = matching(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, NAME_RULE);
const LANGUAGE = matching(/^[a-z]{2,3}(-\w+)*$/, 'a BCP-47 tag such as en');
const ADDRESS = matching(/^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):\d{1,5}$/, 'host:port');
const MAX_IDLE_S = 604_800;

/** As written in the file: `idle_unload_s`. */
export type ModelFieldName = SnakeCase<keyof ModelSpec>;

/**
 * The fields of one entry of `config/models.yaml`. Specs prove that the comments of that file and the table in
 * docs/reference/models-yaml.md are equal to this one.
 */
export const MODEL_FIELDS: Readonly<Record<ModelFieldName, ModelField>> = {
  id: {
    ...NAME,
    help: 'Canonical name: what requests may ask for, the `model` label of metrics, the name of its queue.',
  },
  kind: {
    ...oneOf(MODEL_KINDS),
    help: 'stt: speech to text. tts: text to speech. llm: chat and completions. embedding: text to vectors.',
  },
  engine: {
    ...oneOf(ENGINE_NAMES),
    help: 'What computes it; each engine and its options: src/worker/engines/README.md.',
  },
  aliases: {
    ...optional(listOf(NAME, `names (${NAME_RULE})`)),
    help: 'Other names that requests may use, such as those OpenAI clients send. Ids and aliases share one name space.',
    default: 'none',
  },
  capabilities: {
    ...listOf(oneOf(MODEL_CAPABILITIES), MODEL_CAPABILITIES.join(', ')),
    help: 'What the model can do. Fields that need another capability are refused, or ignored and reported where they only advise.',
  },
  languages: {
    ...optional(listOf(LANGUAGE, 'BCP-47 tags such as en')),
    help: 'BCP-47 tags that requests may ask for.',
    default: 'any',
  },
  replicas: {
    ...optional(REPLICAS),
    help: 'Local worker processes that the gateway starts and supervises; as a list, each with its device and environment.',
    default: '1; 0 with `addresses`',
  },
  addresses: {
    ...optional(listOf(ADDRESS, 'host:port')),
    help: 'Workers that run elsewhere; a host name stands for all its address records, as they come and go.',
    default: 'none',
  },
  remote: {
    ...optional(REMOTE),
    help: 'How the workers of `addresses` are reached; files are read when the model is loaded.',
    default: 'in clear, without a token',
  },
  autostart: {
    ...optional(oneOf(AUTOSTARTS)),
    help: 'When workers start: always, at boot; on_request, with the first request, which waits for them.',
    default: 'always',
  },
  idle_unload_s: {
    ...optional(wholeNumberFrom(1, MAX_IDLE_S, 'seconds')),
    help: 'Its workers stop after so many seconds without any work; the next request starts them again.',
    default: 'never',
  },
  itn: {
    ...optional(FLAG),
    help: 'stt: write "25%" for "twenty five percent" unless a request says `itn=false`; English only.',
    default: 'false',
  },
  loudness: {
    ...optional(oneOf(LOUDNESS)),
    help: 'stt: normalise brings quiet speech to the usual loudness, by one gain per file; for recognisers that miss it.',
    default: 'off',
  },
  voices: {
    ...optional(mapOf(TEXT, 'pairs of a client voice name and an engine voice id')),
    help: "tts: names that requests may use, each with the engine's own.",
    default: 'none',
  },
  options: {
    ...optional(mapOf(ANYTHING, 'pairs; the engine checks them')),
    help: 'Settings of the engine: src/worker/engines/README.md.',
    default: 'those of the engine',
  },
};
