import { parseArgs } from 'node:util';
import { isLoopback } from '../http/loopback.js';
import { loadConfig } from './load-config.js';
import { modelOn, type ModelSpec } from './model-spec.js';
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

export const WORKER_USAGE = `node dist/main.worker.js --model ID [options]

Runs one worker by hand, for a gateway elsewhere: its config/models.yaml names this one under \`addresses\`.
The model's engine and options come from config/models.yaml here, limits from config/switchyard.yaml here.

  --model ID            which model of config/models.yaml to compute
  --listen HOST:PORT    where to listen; default 127.0.0.1:9000, port 0 takes any free one
  --source WAY          pull: files, speech and embeddings from the Redis of redis.url, as any worker of the queue;
                        push: only what gateways send; default: as queue.driver of config/switchyard.yaml says
  --device NAME         handed to the engine as its option \`device\`, such as cuda:1
  --id NAME             its name in logs; default ID@HOST:PORT
  --tls-cert FILE       certificate chain (PEM): the worker speaks TLS
  --tls-key FILE        its key
  --tls-client-ca FILE  take only clients whose certificate one of these signed
  --token-file FILE     take only calls with this bearer token
  --insecure            listen beyond loopback without TLS and token: only in a network without other machines
  --help                this text`;

const OPTIONS = {
  model: { type: 'string' },
  listen: { type: 'string', default: '127.0.0.1:9000' },
  source: { type: 'string' },
  device: { type: 'string' },
  id: { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  'tls-client-ca': { type: 'string' },
  'token-file': { type: 'string' },
  insecure: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

/**
 * What this worker process is to be: what its supervisor says, or what was written on the command line. Undefined: help
 * was asked for. @throws UsageError, ConfigError saying what is missing.
 */
export function workerSpecOf(args: readonly string[], environment = process.env): WorkerSpec | undefined {
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
  const { settings, models } = loadConfig({ environment });
  const model = models.find(({ id }) => id === values.model);
  if (!model) throw wrong(`--model must be one of ${models.map(({ id }) => id).join(', ')}`);
  const { host, port } = listenAddress(values.listen);
  const place = {
    workerId: values.id ?? `${model.id}@${values.listen}`,
    model: modelOn(model, values.device === undefined ? {} : { device: values.device }),
    host,
    port,
  };
  const source = sourceOf(values.source, settings, model);
  return {
    ...{ ...workerSpec(place, settings), fetch: fetchRules(settings), ...source, ...protection(values) },
    ...(model.engine === 'external' && { bridged: bridgedWorker(model, settings) }),
  };
}

/** A worker in another language, started or reached by this process. @throws UsageError */
function bridgedWorker({ id, kind, command, addresses, remote }: ModelSpec, settings: Settings): BridgedWorker {
  const care = workerCare(settings);
  if (kind === 'llm') throw wrong(`--model ${id}: its worker is called by gateways and needs no other process`);
  if (command) return { care };
  const [address, ...others] = addresses;
  if (address === undefined || others.length > 0)
    throw wrong(`--model ${id}: has ${addresses.length} addresses; this process stands before one worker`);
  return { address, care, ...(remote && { remote }) };
}

function sourceOf(source: string | undefined, settings: Settings, model: ModelSpec) {
  if (source !== undefined && source !== 'pull' && source !== 'push') throw wrong('--source must be pull or push');
  if (source === 'push') return {};
  if (source === undefined) return pulledWork(model, settings);
  if (model.kind === 'llm') throw wrong(`--source pull: ${model.id} generates text, which is always pushed`);
  return pulledWork(model, { ...settings, queue: { ...settings.queue, driver: 'redis' } });
}

function listenAddress(listen: string): { host: string; port: number } {
  const [, host, port] = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/.exec(listen) ?? [];
  if (host === undefined || Number(port) > 65_535) throw wrong(`--listen must be HOST:PORT, not ${listen}`);
  return { host, port: Number(port) };
}

function protection(values: Values): Pick<WorkerSpec, 'tls' | 'tokenFile'> {
  const { 'tls-cert': certFile, 'tls-key': keyFile, 'tls-client-ca': clientCaFile, 'token-file': tokenFile } = values;
  if ((certFile === undefined) !== (keyFile === undefined)) throw wrong('--tls-cert and --tls-key go together');
  if (clientCaFile !== undefined && certFile === undefined) throw wrong('--tls-client-ca needs --tls-cert');
  demandProtection(values);
  return {
    ...(certFile !== undefined &&
      keyFile !== undefined && { tls: { certFile, keyFile, ...(clientCaFile && { clientCaFile }) } }),
    ...(tokenFile !== undefined && { tokenFile }),
  };
}

/** Anyone who reaches an open worker can use it and read what others send to it. @throws UsageError */
function demandProtection({ listen, insecure, 'tls-cert': certFile, 'token-file': tokenFile }: Values): void {
  if (insecure || certFile !== undefined || tokenFile !== undefined || isLoopback(listenAddress(listen).host)) return;
  throw wrong(
    `--listen ${listen} reaches beyond this machine: give --token-file or --tls-cert and --tls-key, ` +
      'or --insecure where only gateways can connect',
  );
}
