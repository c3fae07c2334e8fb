import { parseArgs } from 'node:util';
import { isLoopback } from '../http/networks.js';
import { loadConfig } from './load-config.js';
import { ENGINE_KINDS } from './model-fields.js';
import { type EngineName, modelOn, type ModelSpec } from './model-spec.js';
import { modelsFromFile } from './models-file.js';
import { UsageError } from './program-arguments.js';
import { type Settings } from './settings.js';
import {
  type BridgedWorker,
  fetchRules,
  pulledWork,
  readWorkerSpec,
  WORKER_SPEC_VARIABLE,
  workerCare,
  type WorkerSpec,
  workerSpec,
} from './worker-spec.js';
import { parseYaml, problemText } from './yaml-file.js';

/** An option of a worker that is started by hand. */
interface WorkerOption {
  readonly type: 'string' | 'boolean';
  /** The placeholder of its value in `--help`. */
  readonly value?: string;
  readonly multiple?: true;
  readonly help: string;
}

const OPTIONS = {
  model: {
    type: 'string',
    value: 'ID',
    help: 'which model of models.yaml to compute; with --engine, its id',
  },
  listen: {
    type: 'string',
    value: 'HOST:PORT',
    help: 'where to listen; default 127.0.0.1:9000, port 0 takes any free one',
  },
  engine: {
    type: 'string',
    value: 'NAME',
    help: 'engine of a model that is not in the models.yaml here: --kind and --option take the place of the entry',
  },
  kind: {
    type: 'string',
    value: 'KIND',
    help: 'with --engine: stt, tts, llm or embedding; default: the only one of the engine',
  },
  option: {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    help: "with --engine: one of the engine's options, such as modelDir=/models/whisper",
  },
  source: {
    type: 'string',
    value: 'WAY',
    help:
      'pull: files, speech and embeddings from the Redis of redis.url, as any worker of the queue; push: only what ' +
      'gateways send; default: as queue.driver says',
  },
  device: {
    type: 'string',
    value: 'NAME',
    help: 'handed to the engine as its option device, such as cuda:1',
  },
  id: { type: 'string', value: 'NAME', help: 'its name in logs; default ID@HOST:PORT' },
  'tls-cert': {
    type: 'string',
    value: 'FILE',
    help: 'certificate chain (PEM): the worker speaks TLS',
  },
  'tls-key': { type: 'string', value: 'FILE', help: 'its key' },
  'tls-client-ca': {
    type: 'string',
    value: 'FILE',
    help: 'take only clients whose certificate one of these signed',
  },
  'token-file': {
    type: 'string',
    value: 'FILE',
    help: 'take only calls with this bearer token',
  },
  insecure: {
    type: 'boolean',
    help: 'listen beyond loopback without TLS and token: only in a network without other machines',
  },
} as const satisfies Readonly<Record<string, WorkerOption>>;

/** `node dist/main.worker.js` and `switchyard worker run` both take these. */
export const WORKER_OPTIONS: readonly (readonly [name: string, option: WorkerOption])[] =
  Object.entries(OPTIONS);

const INDENT = 24;
const WIDTH = 118;

export const WORKER_USAGE = `node dist/main.worker.js --model ID [options]

Runs one worker by hand, for a gateway elsewhere: its models.yaml names this one under \`addresses\`. The model's engine
and options come from models.yaml here, or from the command line; limits from config/switchyard.yaml here.

${[...WORKER_OPTIONS, ['help', { type: 'boolean', help: 'this text' }] as const]
  .map(([name, { value, multiple, help }]) =>
    row(
      `  --${name}${value === undefined ? '' : ` ${value}`}`,
      multiple ? `${help}; may be repeated` : help,
    ),
  )
  .join('\n')}`;

/** The text beside the option, broken into lines. */
function row(option: string, text: string): string {
  const lines = text.split(' ').reduce<string[]>(
    (done, word) => {
      const line = `${done.at(-1)} ${word}`;
      return line.length <= WIDTH - INDENT ? [...done.slice(0, -1), line] : [...done, ` ${word}`];
    },
    [''],
  );
  return `${option.padEnd(INDENT - 1)}${lines.join(`\n${' '.repeat(INDENT - 1)}`)}`;
}

const GRAMMAR = { ...OPTIONS, help: { type: 'boolean', short: 'h' } } as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof GRAMMAR }>>['values'];

const LISTEN = '127.0.0.1:9000';

/**
 * What this worker process is to be: what its supervisor says, or what was written on the
 * command line. Undefined: help was asked for. @throws UsageError, ConfigError saying
 * what is missing.
 */
export function workerSpecOf(
  args: readonly string[],
  environment = process.env,
): WorkerSpec | undefined {
  if (environment[WORKER_SPEC_VARIABLE] !== undefined) return readWorkerSpec(environment);
  const values = parsed(args);
  return values.help ? undefined : specOf(values, environment);
}

function parsed(args: readonly string[]): Values {
  try {
    return parseArgs({ args: [...args], options: GRAMMAR }).values;
  } catch (error) {
    throw wrong((error as Error).message);
  }
}

const wrong = (message: string) => new UsageError(message, WORKER_USAGE);

function specOf(values: Values, environment: NodeJS.ProcessEnv): WorkerSpec {
  const { listen = LISTEN } = values;
  const { settings, models } = loadConfig({ environment });
  const model = modelOf(values, models);
  const { host, port } = listenAddress(listen);
  const place = {
    workerId: values.id ?? `${model.id}@${listen}`,
    model: modelOn(model, values.device === undefined ? {} : { device: values.device }),
    host,
    port,
  };
  const source = sourceOf(values.source, settings, model);
  return {
    ...workerSpec(place, settings),
    fetch: fetchRules(settings),
    ...source,
    ...protection(values),
    ...(model.engine === 'external' && { bridged: bridgedWorker(model, settings) }),
  };
}

/** @throws UsageError */
function modelOf(values: Values, models: readonly ModelSpec[]): ModelSpec {
  const { model: id, engine, kind, option } = values;
  if (engine !== undefined) return writtenModel({ ...values, engine });
  if (kind !== undefined || option !== undefined)
    throw wrong('--kind and --option go with --engine');
  const model = models.find(one => one.id === id);
  if (model) return model;
  const known =
    models.map(one => one.id).join(', ') || 'none, since models.yaml is empty: name an --engine';
  throw wrong(`--model must be one of ${known}`);
}

/** A model of the command line, by the rules of models.yaml. @throws UsageError */
function writtenModel({
  model: id,
  engine,
  option = [],
  ...given
}: Values & { engine: string }): ModelSpec {
  if (id === undefined) throw wrong('--engine needs --model, the id that the gateway knows');
  const kinds = Object.hasOwn(ENGINE_KINDS, engine)
    ? ENGINE_KINDS[engine as EngineName]
    : undefined;
  if (!kinds) throw wrong(`--engine must be one of ${Object.keys(ENGINE_KINDS).join(', ')}`);
  const kind = given.kind ?? (kinds.length === 1 ? kinds[0] : undefined);
  if (kind === undefined) throw wrong(`--kind must be one of ${kinds.join(', ')}`);
  const entry = {
    id,
    engine,
    kind,
    capabilities: [],
    options: Object.fromEntries(option.map(namedOption)),
  };
  const { models, problems } = modelsFromFile(
    parseYaml(JSON.stringify({ models: [entry] }), 'command line'),
  );
  const [model] = models;
  if (model !== undefined && problems.length === 0) return model;
  const said = problems.map(({ path = '', ...problem }) => ({
    ...problem,
    path: path.replace('models[0].', ''),
  }));
  throw wrong(said.map(problem => problemText({ ...problem, origin: 'command line' })).join('\n'));
}

/** The value is YAML, as in models.yaml: 4 is a number. @throws UsageError */
function namedOption(text: string): readonly [name: string, value: unknown] {
  const at = text.indexOf('=');
  if (at < 1) throw wrong(`--option ${text}: must be NAME=VALUE`);
  return [text.slice(0, at), parseYaml(text.slice(at + 1), 'option').document.toJS() as unknown];
}

/**
 * A worker in another language, started or reached by this process. @throws UsageError
 */
function bridgedWorker(
  { id, kind, command, addresses, remote }: ModelSpec,
  settings: Settings,
): BridgedWorker {
  const care = workerCare(settings);
  if (kind === 'llm')
    throw wrong(`--model ${id}: its worker is called by gateways and needs no other process`);
  if (command) return { care };
  const [address, ...others] = addresses;
  if (address === undefined || others.length > 0)
    throw wrong(
      `--model ${id}: has ${addresses.length} addresses; this process stands before one worker`,
    );
  return { address, care, ...(remote && { remote }) };
}

function sourceOf(source: string | undefined, settings: Settings, model: ModelSpec) {
  if (source !== undefined && source !== 'pull' && source !== 'push')
    throw wrong('--source must be pull or push');
  if (source === 'push') return {};
  if (source === undefined) return pulledWork(model, settings);
  if (model.kind === 'llm')
    throw wrong(`--source pull: ${model.id} generates text, which is always pushed`);
  return pulledWork(model, {
    ...settings,
    queue: { ...settings.queue, driver: 'redis' },
  });
}

function listenAddress(listen: string): { host: string; port: number } {
  const [, host, port] = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/.exec(listen) ?? [];
  if (host === undefined || Number(port) > 65_535)
    throw wrong(`--listen must be HOST:PORT, not ${listen}`);
  return { host, port: Number(port) };
}

function protection(values: Values): Pick<WorkerSpec, 'tls' | 'tokenFile'> {
  const {
    'tls-cert': certFile,
    'tls-key': keyFile,
    'tls-client-ca': clientCaFile,
    'token-file': tokenFile,
  } = values;
  if ((certFile === undefined) !== (keyFile === undefined))
    throw wrong('--tls-cert and --tls-key go together');
  if (clientCaFile !== undefined && certFile === undefined)
    throw wrong('--tls-client-ca needs --tls-cert');
  demandProtection(values);
  return {
    ...(certFile !== undefined &&
      keyFile !== undefined && {
        tls: { certFile, keyFile, ...(clientCaFile && { clientCaFile }) },
      }),
    ...(tokenFile !== undefined && { tokenFile }),
  };
}

/**
 * Anyone who reaches an open worker can use it and read what others send to
 * it. @throws UsageError
 */
function demandProtection({
  listen = LISTEN,
  insecure,
  'tls-cert': certFile,
  'token-file': tokenFile,
}: Values) {
  if (
    insecure ||
    certFile !== undefined ||
    tokenFile !== undefined ||
    isLoopback(listenAddress(listen).host)
  )
    return;
  throw wrong(
    `--listen ${listen} reaches beyond this machine: give --token-file or --tls-cert and --tls-key, ` +
      'or --insecure where only gateways can connect',
  );
}
