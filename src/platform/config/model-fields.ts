import { ENGINE_NAMES, type EngineName, type ModelSpec } from './model-spec.js';

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
] as const;

/** The kinds of work each engine does. */
export const ENGINE_KINDS: Readonly<Record<EngineName, readonly ModelSpec['kind'][]>> = {
  pocketsphinx: ['stt'],
  flite: ['tts'],
  'openai-http': ['stt', 'tts'],
  synthetic: ['stt', 'tts'],
};

export interface ModelField {
  readonly required: boolean;
  /** Allowed values in words, for messages. */
  readonly allowed: string;
  readonly accepts: (value: unknown) => boolean;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;
const ADDRESS = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):\d{1,5}$/;
const NAME_RULE = 'letters, digits and . _ : / -, starting with a letter or digit, at most 128';

const isName = (value: unknown): boolean => typeof value === 'string' && NAME.test(value);
const isMapOf = (value: unknown, accepts: (item: unknown) => boolean): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(accepts);

const oneOf = (values: readonly string[], required: boolean): ModelField => ({
  required,
  allowed: `one of ${values.join(', ')}`,
  accepts: value => values.some(known => known === value),
});
const listOf = (allowed: string, accepts: (item: unknown) => boolean, required = false): ModelField => ({
  required,
  allowed: `a list of ${allowed}`,
  accepts: value => Array.isArray(value) && value.every(accepts),
});

/** The fields of one entry of `config/models.yaml`. */
export const MODEL_FIELDS: Readonly<Record<keyof ModelSpec, ModelField>> = {
  id: { required: true, allowed: NAME_RULE, accepts: isName },
  kind: oneOf(['stt', 'tts'], true),
  engine: oneOf(ENGINE_NAMES, true),
  aliases: listOf(`names (${NAME_RULE})`, isName),
  capabilities: listOf(
    MODEL_CAPABILITIES.join(', '),
    item => (MODEL_CAPABILITIES as readonly unknown[]).includes(item),
    true,
  ),
  languages: listOf('BCP-47 tags such as en', item => typeof item === 'string' && /^[a-z]{2,3}(-\w+)*$/.test(item)),
  replicas: {
    required: false,
    allowed: '0 to 64, whole',
    accepts: value => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 64,
  },
  addresses: listOf('host:port', item => typeof item === 'string' && ADDRESS.test(item)),
  itn: { required: false, allowed: 'true or false', accepts: value => typeof value === 'boolean' },
  voices: {
    required: false,
    allowed: 'pairs of a client voice name and an engine voice id',
    accepts: value => isMapOf(value, item => typeof item === 'string' && item !== ''),
  },
  options: { required: false, allowed: 'pairs; the engine checks them', accepts: value => isMapOf(value, () => true) },
};
