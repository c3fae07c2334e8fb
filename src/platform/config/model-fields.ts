import { ENGINE_CAPABILITIES } from '@switchyard/engine-api/engine.js';
import {
  allowedBy,
  ANYTHING,
  FLAG,
  listOf,
  mapOf,
  matching,
  objectOf,
  oneOf,
  optional,
  TEXT,
  wholeNumberFrom,
  checked,
  rule,
} from '@switchyard/engine-api/rules.js';
import { z } from 'zod';
import { DEVICE_NAME, type EntryField, field, SIZE } from './device-fields.js';
import {
  AUTOSTARTS,
  ENGINE_NAMES,
  type EngineName,
  MODEL_KINDS,
  type ModelKind,
  type ModelSpec,
  type ReplicaRole,
} from './model-spec.js';

/** The fields of a model that say where its workers run; as written, so in snake case. */

const MAX_REPLICAS = 64;

/** The gateway sets a worker's own variables. */
const VARIABLE = matching(/^(?!SWITCHYARD_)[A-Za-z_][A-Za-z0-9_]*$/, 'a variable, not SWITCHYARD_');

const SCALAR = checked<string | number | boolean>(
  value => ['string', 'number', 'boolean'].includes(typeof value),
  'text, a number, true or false',
  { type: ['string', 'number', 'boolean'] },
);

const CORES = matching(/^\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*$/, "CPU numbers such as '0-3,6'");

const REPLICA_ROLES: readonly ReplicaRole[] = ['any', 'stream', 'file'];

const REPLICA = objectOf(
  {
    role: optional(oneOf(REPLICA_ROLES)),
    cores: optional(CORES),
    device: optional(TEXT),
    env: optional(mapOf(SCALAR, '{NAME: value} (no SWITCHYARD_ names)', VARIABLE)),
  },
  `{role: ${REPLICA_ROLES.join(' | ')}, cores: '0-3', device: text, env: {NAME: value}}`,
);

const COUNT = wholeNumberFrom(0, MAX_REPLICAS);

const REPLICAS = rule(
  `${allowedBy(COUNT)}, or a list of ${allowedBy(REPLICA)} (no SWITCHYARD_ names)`,
  error => z.union([COUNT, z.array(REPLICA).max(MAX_REPLICAS)], error),
);

const MAX_ARGUMENTS = 256;

const ARGUMENT = matching(
  /^[^\0]{0,4096}$/s,
  'text of at most 4096 characters (numbers in quotes)',
);

/** A worker that is not told its port cannot be reached. */
const COMMAND = rule(
  `a list such as ['python', 'worker.py', '--port', '{port}']: a program, then arguments, one with {port}`,
  error =>
    z
      .array(ARGUMENT, error)
      .min(2, error)
      .max(MAX_ARGUMENTS, error)
      .refine(
        ([program, ...args]) =>
          program !== '' && args.some(argument => argument.includes('{port}')),
        error,
      ),
  { contains: { type: 'string', pattern: '\\{port\\}' } },
);

/** Other braces stay as they are, such as those of JSON. */
export const filledIn = (
  text: string,
  values: Readonly<Record<'port' | 'host' | 'model' | 'device', string>>,
): string =>
  text.replace(/\{(port|host|model|device)\}/g, (_, name: keyof typeof values) => values[name]);

const PATHS = {
  ca_file: optional(TEXT),
  cert_file: optional(TEXT),
  key_file: optional(TEXT),
};

const TLS_FORM = '{ca_file, cert_file and key_file, server_name}';

const TLS = objectOf({ ...PATHS, server_name: optional(TEXT) }, TLS_FORM)
  .refine(value => 'cert_file' in value === 'key_file' in value, `must be ${TLS_FORM}`)
  .meta({ dependencies: { cert_file: ['key_file'], key_file: ['cert_file'] } });

const REMOTE = objectOf(
  { tls: optional(TLS), token_file: optional(TEXT) },
  `{tls: ${TLS_FORM}, token_file}, all optional; an empty tls: {} trusts the system's authorities`,
);

/** The model kinds of each engine. */
export const ENGINE_KINDS: Readonly<Record<EngineName, readonly ModelKind[]>> = {
  'sherpa-onnx': ['stt', 'tts'],
  'llama-cpp': ['llm', 'embedding'],
  'openai-http': ['stt', 'tts', 'llm', 'embedding'],
  external: ['stt', 'tts', 'llm', 'embedding'],
  synthetic: ['stt', 'tts', 'llm', 'embedding'],
};

const WHISPER_ONNX_REMOVED =
  'was removed: run `switchyard models add whisper-base` (ctranslate2), or use engine sherpa-onnx without Python; ' +
  'see docs/operate/upgrade.md';

const NAME_RULE = 'letters, digits and . _ : / -, starting with a letter or digit, at most 128';

const NAME = matching(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, NAME_RULE);

const ALIAS = matching(
  /^([A-Za-z0-9][A-Za-z0-9._:/-]{0,127}|[A-Za-z0-9._:/-]{0,63}\*[A-Za-z0-9._:/-]{0,63})$/,
  `${NAME_RULE}, or a pattern with one *`,
);

const LANGUAGE = matching(/^[a-z]{2,3}(-\w+)*$/, 'a BCP-47 tag such as en');

const ADDRESS = matching(/^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):\d{1,5}$/, 'host:port');

const MAX_IDLE_S = 604_800;

const DEVICES = rule(`${allowedBy(DEVICE_NAME)}, or a list of such names`, error =>
  z.union([DEVICE_NAME, z.array(DEVICE_NAME).min(1)], error),
);

const ENGINE = oneOf(ENGINE_NAMES, { 'whisper-onnx': WHISPER_ONNX_REMOVED });

/** How fields are spelt: `idle_unload_s` in files, `idleUnloadS` in code. */
type SnakeCase<S extends string> = S extends `${infer Head}${infer Tail}`
  ? Head extends Lowercase<Head>
    ? `${Head}${SnakeCase<Tail>}`
    : `_${Lowercase<Head>}${SnakeCase<Tail>}`
  : S;

/**
 * The fields of one entry of `config/models.yaml`. A spec checks that the comments of
 * that file name these fields; `scripts/docs.mjs` writes the table of
 * docs/reference/models-yaml.md from them.
 */
export const MODEL_FIELDS: Readonly<Record<SnakeCase<keyof ModelSpec>, EntryField>> = {
  id: field(
    NAME,
    'Canonical name: used in requests, as the `model` label of metrics and as the name of its queue.',
  ),
  kind: field(
    oneOf(MODEL_KINDS),
    'stt: speech to text. tts: text to speech. llm: chat and completions. embedding: text to vectors.',
  ),
  engine: field(
    ENGINE,
    'The engine that runs the model. Engines and their options: src/worker/engines/README.md.',
  ),
  aliases: field(
    listOf(ALIAS, `names (${NAME_RULE}), or one with a *`),
    'Other names that requests may use, such as those OpenAI clients send. Ids and aliases share one namespace. One ' +
      'model of each kind may have a pattern, such as `gpt-*` or `*`: it gets the names that mean no other model.',
    'none',
  ),
  capabilities: field(
    listOf(oneOf(ENGINE_CAPABILITIES), ENGINE_CAPABILITIES.join(', ')),
    'What the model can do. Fields that need another capability are rejected; hints are ignored and reported.',
  ),
  languages: field(
    listOf(LANGUAGE, 'BCP-47 tags such as en'),
    'BCP-47 tags that requests may use.',
    'any',
  ),
  replicas: field(
    REPLICAS,
    'Local worker processes that the gateway starts and supervises. A list sets each one. ' +
      'role stream: it is sent live streams only; file: everything but these; any: both. ' +
      'cores: where its process runs (Linux).',
    '1; 0 with `addresses` and no `command`',
  ),
  addresses: field(
    listOf(ADDRESS, 'host:port'),
    'Workers that run elsewhere. A host name stands for all its address records, also for those added later.',
    'none',
  ),
  command: field(
    COMMAND,
    'engine external: program and arguments of a worker that the gateway starts and supervises, without a shell. ' +
      '`{port}`, `{host}`, `{model}` and `{device}` are filled in; `env` and `device` come from `replicas`.',
    'none',
  ),
  remote: field(
    REMOTE,
    'How the gateway connects to the workers of `addresses`. Files are read when the model is loaded.',
    'no TLS, no token',
  ),
  autostart: field(
    oneOf(AUTOSTARTS),
    'When workers start. always: at boot. on_request: with the first request, which waits for them.',
    'always',
  ),
  idle_unload_s: field(
    wholeNumberFrom(1, MAX_IDLE_S, 'seconds'),
    'The workers stop after this many seconds without work; the next request starts them again.',
    'never',
  ),
  device: field(
    DEVICES,
    'Device of `devices:` whose memory its local workers use; of several, the one that has room first. It is loaded ' +
      'when it is asked for and leaves for others (docs/guides/models-that-share-a-device.md).',
    'none is shared',
  ),
  memory: field(
    SIZE,
    'Memory of the device that all its local workers need together.',
    'measured at its first load, which has the device to itself',
  ),
  pin: field(FLAG, 'It is loaded at boot and never leaves its device; needs `memory`.', 'false'),
  prewarm: field(FLAG, 'It is loaded while there is room for it, before anybody asks.', 'false'),
  min_residence_s: field(
    wholeNumberFrom(0, MAX_IDLE_S, 'seconds'),
    'While it is in use it stays so long, unless a REALTIME request of another model waits.',
    'five times its load time',
  ),
  stand_in: field(
    FLAG,
    'It serves until there is a better model: its aliases go to the first one that is added. Without aliases it is ' +
      'loaded on request only.',
    'true for synthetic, else false',
  ),
  default_priority: field(
    oneOf(['realtime', 'batch']),
    'Of requests that state no priority, unless their API key has a default of its own.',
    'batch',
  ),
  itn: field(
    FLAG,
    'stt: write "25%" for "twenty five percent" unless a request sends `itn=false`; English only.',
    'false',
  ),
  loudness: field(
    oneOf(['off', 'normalise']),
    'stt: normalise raises quiet speech to the usual loudness with one gain per file, for engines that miss it.',
    'off',
  ),
  voices: field(
    mapOf(TEXT, 'pairs of a client voice name and an engine voice id'),
    'tts: names that requests may use, each mapped to a voice id of the engine.',
    'none',
  ),
  options: field(
    mapOf(ANYTHING, 'pairs; the engine checks them'),
    'Settings of the engine: src/worker/engines/README.md.',
    'those of the engine',
  ),
};

/** One entry of `config/models.yaml`. */
export const MODEL = objectOf(
  Object.fromEntries(Object.entries(MODEL_FIELDS).map(([name, { rule }]) => [name, rule])),
  'a model with id, kind, …',
);
