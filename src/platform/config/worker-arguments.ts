import { parseArgs } from 'node:util';
import { isLoopback } from '../http/networks.js';
import { loadConfig } from './load-config.js';
import { ENGINE_KINDS } from './model-fields.js';
import { type EngineName, modelOn, type ModelSpec } from './model-spec.js';
import { modelsFromFile } from './models-file.js';
import { UsageError } from './program-arguments.js';
import { type Settings } from './settings.js';
import { WORKER_OPTIONS, WORKER_USAGE } from './worker-options.js';
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

const OPTIONS = { ...WORKER_OPTIONS, help: { type: 'boolean', short: 'h' } } as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

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
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw wrong((error as Error).message);
  }
}

const wrong = (message: string): UsageError => new UsageError(message, WORKER_USAGE);

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
function modelOf(
  { model: id, engine, kind, option }: Values,
  models: readonly ModelSpec[],
): ModelSpec {
  if (engine !== undefined) return writtenModel({ id, engine, kind, options: option });
  if (kind !== undefined || option !== undefined)
    throw wrong('--kind and --option go with --engine');
  const model = models.find(one => one.id === id);
  if (model) return model;
  const known =
    models.map(one => one.id).join(', ') ||
    'none, since models.yaml is empty: name an --engine';
  throw wrong(`--model must be one of ${known}`);
}

interface WrittenModel {
  readonly id: string | undefined;
  readonly engine: string;
  readonly kind: string | undefined;
  readonly options: readonly string[] | undefined;
}

/** A model of the command line, by the rules of models.yaml. @throws UsageError */
function writtenModel({ id, engine, options = [], ...given }: WrittenModel): ModelSpec {
  if (id === undefined)
    throw wrong('--engine needs --model, the id that the gateway knows');
  const kinds = Object.hasOwn(ENGINE_KINDS, engine)
    ? ENGINE_KINDS[engine as EngineName]
    : undefined;
  if (!kinds)
    throw wrong(`--engine must be one of ${Object.keys(ENGINE_KINDS).join(', ')}`);
  const kind = given.kind ?? (kinds.length === 1 ? kinds[0] : undefined);
  if (kind === undefined) throw wrong(`--kind must be one of ${kinds.join(', ')}`);
  const entry = {
    id,
    engine,
    kind,
    capabilities: [],
    options: Object.fromEntries(options.map(namedOption)),
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
  throw wrong(
    said.map(problem => problemText({ ...problem, origin: 'command line' })).join('\n'),
  );
}

/** The value is YAML, as in models.yaml: 4 is a number. @throws UsageError */
function namedOption(text: string): readonly [name: string, value: unknown] {
  const at = text.indexOf('=');
  if (at < 1) throw wrong(`--option ${text}: must be NAME=VALUE`);
  return [
    text.slice(0, at),
    parseYaml(text.slice(at + 1), 'option').document.toJS() as unknown,
  ];
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
    throw wrong(
      `--model ${id}: its worker is called by gateways and needs no other process`,
    );
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
  const [, host, port] =
    /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/.exec(listen) ?? [];
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
}: Values): void {
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
