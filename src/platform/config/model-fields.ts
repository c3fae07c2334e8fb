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
import { COMMAND, REMOTE, REPLICAS } from './worker-fields.js';

/** What an engine can do: in the models file, and in what an engine reports of itself. */
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
  'responses',
  'embeddings',
  'dimensions',
  'rerank',
] as const;

/** The model kinds of each engine. */
export const ENGINE_KINDS: Readonly<Record<EngineName, readonly ModelKind[]>> = {
  pocketsphinx: ['stt'],
  flite: ['tts'],
  'sherpa-onnx': ['stt', 'tts'],
  'llama-cpp': ['llm', 'embedding'],
  'openai-http': ['stt', 'tts', 'llm', 'embedding'],
  external: ['stt', 'tts', 'llm', 'embedding'],
  synthetic: ['stt', 'tts', 'llm', 'embedding'],
};

/** The model kinds of each capability; a model of another kind cannot have it. */
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
  responses: ['llm'],
  embeddings: ['embedding'],
  dimensions: ['embedding'],
  rerank: ['embedding'],
};

const WHISPER_ONNX_REMOVED =
  'was removed: run `switchyard models add whisper-base` (ctranslate2), or use engine sherpa-onnx without Python; ' +
  'see docs/operate/upgrade.md';

export interface ModelField extends ValueRule {
  /** What the field does and when to set it: its row in docs/reference/models-yaml.md. */
  readonly help: string;
  /** The default, in words; required fields have none. */
  readonly default?: string;
}

const NAME_RULE = 'letters, digits and . _ : / -, starting with a letter or digit, at most 128';
const NAME = matching(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, NAME_RULE);
const ALIAS = matching(
  /^([A-Za-z0-9][A-Za-z0-9._:/-]{0,127}|[A-Za-z0-9._:/-]{0,63}\*[A-Za-z0-9._:/-]{0,63})$/,
  `${NAME_RULE}, or a pattern with one *`,
);
const LANGUAGE = matching(/^[a-z]{2,3}(-\w+)*$/, 'a BCP-47 tag such as en');
const ADDRESS = matching(/^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):\d{1,5}$/, 'host:port');
const MAX_IDLE_S = 604_800;

/** As written in the file: `idle_unload_s`. */
export type ModelFieldName = SnakeCase<keyof ModelSpec>;

/**
 * The fields of one entry of `config/models.yaml`. A spec checks that the comments of that file name these fields;
 * `scripts/docs.mjs` writes the table of docs/reference/models-yaml.md from them.
 */
export const MODEL_FIELDS: Readonly<Record<ModelFieldName, ModelField>> = {
  id: {
    ...NAME,
    help: 'Canonical name: used in requests, as the `model` label of metrics and as the name of its queue.',
  },
  kind: {
    ...oneOf(MODEL_KINDS),
    help: 'stt: speech to text. tts: text to speech. llm: chat and completions. embedding: text to vectors.',
  },
  engine: {
    ...oneOf(ENGINE_NAMES),
    removed: { 'whisper-onnx': WHISPER_ONNX_REMOVED },
    help: 'The engine that runs the model. Engines and their options: src/worker/engines/README.md.',
  },
  aliases: {
    ...optional(listOf(ALIAS, `names (${NAME_RULE}), or one with a *`)),
    help:
      'Other names that requests may use, such as those OpenAI clients send. Ids and aliases share one namespace. One ' +
      'model of each kind may have a pattern, such as `gpt-*` or `*`: it gets the names that mean no other model.',
    default: 'none',
  },
  capabilities: {
    ...listOf(oneOf(MODEL_CAPABILITIES), MODEL_CAPABILITIES.join(', ')),
    help: 'What the model can do. Fields that need another capability are rejected; hints are ignored and reported.',
  },
  languages: {
    ...optional(listOf(LANGUAGE, 'BCP-47 tags such as en')),
    help: 'BCP-47 tags that requests may use.',
    default: 'any',
  },
  replicas: {
    ...optional(REPLICAS),
    help:
      'Local worker processes that the gateway starts and supervises. A list sets each one. ' +
      'role stream: it is sent live streams only; file: everything but these; any: both. ' +
      'cores: where its process runs (Linux).',
    default: '1; 0 with `addresses` and no `command`',
  },
  addresses: {
    ...optional(listOf(ADDRESS, 'host:port')),
    help: 'Workers that run elsewhere. A host name stands for all its address records, also for those added later.',
    default: 'none',
  },
  command: {
    ...optional(COMMAND),
    help:
      'engine external: program and arguments of a worker that the gateway starts and supervises, without a shell. ' +
      '`{port}`, `{host}`, `{model}` and `{device}` are filled in; `env` and `device` come from `replicas`.',
    default: 'none',
  },
  remote: {
    ...optional(REMOTE),
    help: 'How the gateway connects to the workers of `addresses`. Files are read when the model is loaded.',
    default: 'no TLS, no token',
  },
  autostart: {
    ...optional(oneOf(AUTOSTARTS)),
    help: 'When workers start. always: at boot. on_request: with the first request, which waits for them.',
    default: 'always',
  },
  idle_unload_s: {
    ...optional(wholeNumberFrom(1, MAX_IDLE_S, 'seconds')),
    help: 'The workers stop after this many seconds without work; the next request starts them again.',
    default: 'never',
  },
  default_priority: {
    ...optional(oneOf(['realtime', 'batch'])),
    help: 'Of requests that state no priority, unless their API key has a default of its own.',
    default: 'batch',
  },
  itn: {
    ...optional(FLAG),
    help: 'stt: write "25%" for "twenty five percent" unless a request sends `itn=false`; English only.',
    default: 'false',
  },
  loudness: {
    ...optional(oneOf(LOUDNESS)),
    help: 'stt: normalise raises quiet speech to the usual loudness with one gain per file, for engines that miss it.',
    default: 'off',
  },
  voices: {
    ...optional(mapOf(TEXT, 'pairs of a client voice name and an engine voice id')),
    help: 'tts: names that requests may use, each mapped to a voice id of the engine.',
    default: 'none',
  },
  options: {
    ...optional(mapOf(ANYTHING, 'pairs; the engine checks them')),
    help: 'Settings of the engine: src/worker/engines/README.md.',
    default: 'those of the engine',
  },
};
