import { type SnakeCase } from './field-names.js';
import {
  AUTOSTARTS,
  ENGINE_NAMES,
  type EngineName,
  LOUDNESS,
  MODEL_KINDS,
  type ModelKind,
  type ModelSpec,
} from './model-spec.js';
import { isRemote, isReplicas, REMOTE_RULE, REPLICAS_RULE } from './worker-fields.js';

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

export interface ModelField {
  readonly required: boolean;
  /** Allowed values in words, for messages and the table. */
  readonly allowed: string;
  readonly accepts: (value: unknown) => boolean;
  /** What the field does and when to set it: its row in docs/reference/models-yaml.md. */
  readonly help: string;
  /** What leaving it out means, in words; required fields have none. */
  readonly default?: string;
  /** The words it knows, for the nearest one to a misspelt one. */
  readonly choices?: readonly string[];
  /** List fields: judges one item, so that a problem names the item and its line and not the whole list. */
  readonly item?: { readonly allowed: string; readonly accepts: (item: unknown) => boolean };
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;
const ADDRESS = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):\d{1,5}$/;
const MAX_IDLE_S = 604_800;
const NAME_RULE = 'letters, digits and . _ : / -, starting with a letter or digit, at most 128';

const isName = (value: unknown): boolean => typeof value === 'string' && NAME.test(value);
const isMapOf = (value: unknown, accepts: (item: unknown) => boolean): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(accepts);

const oneOf = (choices: readonly string[]) => ({
  required: true,
  allowed: `one of ${choices.join(', ')}`,
  accepts: (value: unknown) => choices.some(known => known === value),
  choices,
});
const listOf = (allowed: string, accepts: (item: unknown) => boolean) => ({
  required: false,
  allowed: `a list of ${allowed}`,
  accepts: (value: unknown) => Array.isArray(value) && value.every(accepts),
  item: { allowed, accepts },
});

/** As written in the file: `idle_unload_s`. */
export type ModelFieldName = SnakeCase<keyof ModelSpec>;

/**
 * The fields of one entry of `config/models.yaml`. Specs prove that the comments of that file and the table in
 * docs/reference/models-yaml.md are equal to this one.
 */
export const MODEL_FIELDS: Readonly<Record<ModelFieldName, ModelField>> = {
  id: {
    required: true,
    allowed: NAME_RULE,
    accepts: isName,
    help: 'Canonical name: what requests may ask for, the `model` label of metrics, the key of the line it waits in.',
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
    ...listOf(`names (${NAME_RULE})`, isName),
    help: 'Other names that requests may use, such as those OpenAI clients send. Ids and aliases share one name space.',
    default: 'none',
  },
  capabilities: {
    ...listOf(MODEL_CAPABILITIES.join(', '), item => (MODEL_CAPABILITIES as readonly unknown[]).includes(item)),
    required: true,
    choices: MODEL_CAPABILITIES,
    help: 'What the model can do. Fields that need another capability are refused, or ignored and reported where they only advise.',
  },
  languages: {
    ...listOf('BCP-47 tags such as en', item => typeof item === 'string' && /^[a-z]{2,3}(-\w+)*$/.test(item)),
    help: 'BCP-47 tags that requests may ask for.',
    default: 'any',
  },
  replicas: {
    required: false,
    allowed: REPLICAS_RULE,
    accepts: isReplicas,
    help: 'Local worker processes that the gateway starts and supervises; as a list, each with its device and environment.',
    default: '1; 0 with `addresses`',
  },
  addresses: {
    ...listOf('host:port', item => typeof item === 'string' && ADDRESS.test(item)),
    help: 'Workers that run elsewhere; a host name stands for all its address records, as they come and go.',
    default: 'none',
  },
  remote: {
    required: false,
    allowed: REMOTE_RULE,
    accepts: isRemote,
    help: 'How the workers of `addresses` are reached; files are read when the model is loaded.',
    default: 'in clear, without a token',
  },
  autostart: {
    ...oneOf(AUTOSTARTS),
    required: false,
    help: 'When workers start: always, at boot; on_request, with the first request, which waits for them.',
    default: 'always',
  },
  idle_unload_s: {
    required: false,
    allowed: `1 to ${MAX_IDLE_S} seconds, whole`,
    accepts: value => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_IDLE_S,
    help: 'Its workers stop after so many seconds without any work; the next request starts them again.',
    default: 'never',
  },
  itn: {
    required: false,
    allowed: 'true or false',
    accepts: value => typeof value === 'boolean',
    help: 'stt: write "25%" for "twenty five percent" unless a request says `itn=false`; English only.',
    default: 'false',
  },
  loudness: {
    ...oneOf(LOUDNESS),
    required: false,
    help: 'stt: normalise brings quiet speech to the usual loudness, by one gain per file; for recognisers that miss it.',
    default: 'off',
  },
  voices: {
    required: false,
    allowed: 'pairs of a client voice name and an engine voice id',
    accepts: value => isMapOf(value, item => typeof item === 'string' && item !== ''),
    help: "tts: names that requests may use, each with the engine's own.",
    default: 'none',
  },
  options: {
    required: false,
    allowed: 'pairs; the engine checks them',
    accepts: value => isMapOf(value, () => true),
    help: 'Settings of the engine: src/worker/engines/README.md.',
    default: 'those of the engine',
  },
};
