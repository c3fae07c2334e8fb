import { writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { Product } from '../../support/product.js';
import { type RealModels } from '../../support/real-models.js';
import { type Device } from './abandoned-routes.js';
import { litellm, litellmArgs, type Peer, python } from './peer-packages.js';
import { type Server, startPeer } from './peer-process.js';

/** What is abandoned: callers see `url`, and its processes below `pid` compute. */
export interface AbandonedServer extends AsyncDisposable {
  readonly name: string;
  readonly version: string;
  readonly models: Readonly<Record<Device, string>>;
  /** Undefined: it has no such device. */
  url(device: Device): string | undefined;
  pid(device: Device): number | undefined;
}

const MODELS = { speech: 'whisper-1', text: 'text', voice: 'tts-1', vectors: 'vectors' };

export async function switchyard({ models }: RealModels): Promise<AbandonedServer> {
  // On a busy machine a call may take longer than a request may.
  const settings = { 'inference.timeout_min_ms': 600_000 };
  const product = await Product.start([...models, vectorsOf(models)], settings);
  await product.allReady();
  const workers = await product.workers();
  const names = {
    ...{ speech: 'whisper-base', text: 'smollm2-135m-instruct' },
    ...{ voice: 'piper-en-joe', vectors: 'vectors' },
  };
  return {
    ...{ name: 'switchyard', version: 'this one', models: names, url: () => product.url },
    pid: device => workers.find(({ model }) => model === names[device])?.pid,
    [Symbol.asyncDispose]: () => product[Symbol.asyncDispose](),
  };
}

/** The starter set has no model for embeddings: its language model gives some. */
function vectorsOf(models: readonly ModelSpec[]): ModelSpec {
  const options = { modelFile: modelFileOf(models), device: 'cpu', pooling: 'mean' };
  return {
    ...{ id: 'vectors', kind: 'embedding', engine: 'llama-cpp', aliases: [], languages: [] },
    ...{ capabilities: ['embeddings'], replicas: 1, addresses: [], voices: {}, options },
  };
}

const modelFileOf = (models: readonly ModelSpec[]): string =>
  (models.find(({ engine }) => engine === 'llama-cpp')!.options as { modelFile: string }).modelFile;

/** https://pypi.org/project/xllamacpp/: one server for text, one for vectors, as it wants it. */
export async function llamaCpp(real: RealModels, folder: string): Promise<AbandonedServer> {
  const peer = await python('xllamacpp', 'xllamacpp==2026.10.11549');
  const script = resolve('test/bench/league/peers/llama_cpp.py');
  const start = (name: string, ...more: readonly string[]): Promise<Server> => {
    const args = (port: number) => [script, modelFileOf(real.models), String(port), ...more];
    return startPeer({ name, peer, args, folder, answers: isUp() });
  };
  const text = await start('llama.cpp');
  const vectors = await start('llama.cpp-vectors', 'embeddings').catch(async (error: unknown) => {
    await text[Symbol.asyncDispose]();
    throw error;
  });
  return served('llama.cpp', peer, { text, vectors });
}

/** https://pypi.org/project/faster-whisper-server/ */
export async function fasterWhisper(real: RealModels, folder: string): Promise<AbandonedServer> {
  const found = await python('faster-whisper-server', 'faster-whisper-server==0.0.3');
  const program = join(dirname(found.program), 'faster-whisper-server');
  const { command = [] } = real.models.find(({ id }) => id === 'whisper-base')!;
  const path = command[command.indexOf('--path') + 1];
  const transcribe = { beam_size: 1, vad_filter: true };
  const model = { name: MODELS.speech, path, transcribe_options: transcribe };
  const config = join(folder, 'faster-whisper.json');
  await writeFile(
    config,
    JSON.stringify({
      model_options: { device: 'cpu', compute_type: 'int8' },
      models: [{ ...model, translate_options: transcribe }],
    }),
  );
  const peer = { ...found, program };
  const speech = await startPeer({
    ...{ name: 'faster-whisper-server', peer, folder, answers: isUp() },
    args: port => ['--config', config, '--host', '127.0.0.1', '--port', String(port)],
  });
  return served('faster-whisper-server', peer, { speech });
}

/** LiteLLM in front of another one: that one's devices compute. */
export async function litellmBefore(
  upstream: AbandonedServer,
  folder: string,
): Promise<AbandonedServer> {
  const peer = await litellm();
  const devices = (Object.keys(MODELS) as Device[]).filter(device => upstream.url(device));
  const list = devices.map(device => ({
    model_name: MODELS[device],
    litellm_params: {
      model: `openai/${MODELS[device]}`,
      api_base: `${upstream.url(device)}/v1`,
      api_key: 'none',
    },
  }));
  const config = join(folder, 'litellm.json');
  await writeFile(config, JSON.stringify({ model_list: list }));
  const env = {
    ...{ LITELLM_LOG: 'ERROR', LITELLM_MODE: 'PRODUCTION' },
    // Else it asks another host for the prices of models first.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    // Callers here have no key, and without one for itself it does not start.
    LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true',
  };
  const name = `litellm-${upstream.name}`;
  const server = await startPeer({
    ...{ name, peer, folder, env: () => env, answers: isUp('/health/liveliness') },
    args: port => litellmArgs(config, port),
  }).catch(async (error: unknown) => {
    await upstream[Symbol.asyncDispose]();
    throw error;
  });
  return {
    ...upstream,
    ...{ name: `LiteLLM before ${upstream.name}`, version: peer.version },
    url: device => upstream.url(device) && `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

function served(
  name: string,
  { version }: Peer,
  servers: Readonly<Partial<Record<Device, Server>>>,
): AbandonedServer {
  return {
    ...{ name, version, models: MODELS },
    url: device => servers[device] && `http://127.0.0.1:${servers[device].port}`,
    pid: device => servers[device]?.pid,
    [Symbol.asyncDispose]: async () => {
      for (const server of Object.values(servers)) await server[Symbol.asyncDispose]();
    },
  };
}

const isUp =
  (path = '/health') =>
  async (port: number, signal: AbortSignal): Promise<boolean> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal }).catch(
      () => undefined,
    );
    return answer?.ok === true;
  };
