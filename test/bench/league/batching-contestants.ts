import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { GatewayProcess } from '../../support/gateway-process.js';
import { silentWav, transcriptionRequest } from '../../support/http-request.js';
import { processTree } from '../../support/process-tree.js';
import { benchModel } from '../support/bench-model.js';
import { siblingModule } from '../support/sibling-module.js';
import { DEVICE, type DeviceModel } from './device-models.js';
import { python, versionOf } from './peer-packages.js';
import { isAnswered, type PeerStart, type Server, serverOf, startPeer } from './peer-process.js';

/** `bulk` has time; `urgent` has not, where a contestant can be told so. */
export type RequestKind = 'ordinary' | 'bulk' | 'urgent';

export interface RequestOptions {
  readonly model?: DeviceModel;
  readonly kind?: RequestKind;
  /** When its caller leaves. */
  readonly deadlineMs?: number;
}

/** A server that makes groups of requests for one scripted device. */
export interface Contestant extends Server {
  request(options?: RequestOptions): Buffer;
  /** The processes that run the device, now. */
  devicePids(): readonly number[];
}

export async function switchyard(folder: string): Promise<Contestant> {
  const models = Object.entries(DEVICE.costs).map(([id, cost]) => ({
    ...benchModel({ ...cost, maxBatch: DEVICE.group }),
    id,
  }));
  const gateway = await GatewayProcess.start(models, {}, { folder });
  const { pid } = gateway.process.child;
  return {
    ...serverOf(gateway, 'switchyard'),
    request: ({ model = 'fixed', kind, deadlineMs } = {}) =>
      transcriptionRequest({
        ...{ model, priority: kind === 'urgent' ? 'realtime' : 'batch' },
        ...(deadlineMs !== undefined && { deadlineMs }),
      }),
    devicePids: () =>
      processTree(pid)
        .filter(({ command }) => command.startsWith('switchyard worker '))
        .map(worker => worker.pid),
  };
}

interface PeerApp extends Pick<PeerStart, 'name' | 'peer' | 'args'> {
  /** Of the upload; default: as it is. */
  readonly body?: (upload: object) => object;
}

async function started(
  folder: string,
  { name, peer, args, body = upload => upload }: PeerApp,
): Promise<Contestant> {
  const own = join(folder, name);
  await mkdir(own);
  const pidFile = join(own, 'device.pid');
  const env = (port: number) => ({
    ...{ PEER_PORT: String(port), PEER_FOLDER: own, DEVICE_COSTS: JSON.stringify(DEVICE.costs) },
    ...{ DEVICE_PID_FILE: pidFile, PYTHONPATH: APPS, PYTHONDONTWRITEBYTECODE: '1' },
    // Neither asks the network for anything.
    ...{ RAY_USAGE_STATS_ENABLED: '0', BENTOML_DO_NOT_TRACK: 'True', BENTOML_HOME: own },
  });
  const request = ({ model = 'fixed', kind }: RequestOptions = {}): Buffer =>
    jsonRequest(body({ model, audio: AUDIO }), kind === 'bulk' ? 'X-Priority: bulk\r\n' : '');
  const answers = (port: number) => isAnswered(port, request());
  return {
    ...(await startPeer({ name, peer, args, env, folder, answers })),
    request,
    devicePids: () => [Number(readFileSync(pidFile, 'ascii'))],
  };
}

const APPS = resolve('test/bench/league/peers');
const AUDIO = silentWav().toString('base64');

function jsonRequest(value: object, headers: string): Buffer {
  const body = JSON.stringify(value);
  const head = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(`POST /transcribe HTTP/1.1\r\n${head}${headers}\r\n${body}`);
}

const script = (file: string) => (): readonly string[] => [join(APPS, file)];

const litserve = async (folder: string) =>
  started(folder, {
    name: 'litserve',
    peer: await python('litserve', 'litserve'),
    args: script('peer_litserve.py'),
  });

const fastapi = async (folder: string) => {
  const peer = await python('fastapi', 'fastapi', 'uvicorn[standard]');
  return started(folder, { name: 'fastapi', peer, args: script('peer_fastapi.py') });
};

const ray = async (folder: string) =>
  started(folder, {
    name: 'ray',
    peer: await python('ray', 'ray[serve]'),
    args: script('peer_ray.py'),
  });

const bentoml = async (folder: string) => {
  const { program, version } = await python('bentoml', 'bentoml');
  const peer = { program: join(dirname(program), 'bentoml'), args: [], version };
  const place = ['--working-dir', APPS, '--host', '127.0.0.1', '--port'];
  const args = (port: number) => ['serve', 'peer_bentoml:Transcriber', ...place, String(port)];
  return started(folder, {
    name: 'bentoml',
    peer,
    args,
    body: upload => ({ uploads: [upload] }),
  });
};

/** The release that this project has. */
const bullmq = async (folder: string) => {
  const args = [siblingModule(import.meta.url, './peers/bullmq-http')];
  const version = await versionOf('node_modules/bullmq');
  const peer = { program: process.execPath, args, version };
  return started(folder, { name: 'bullmq', peer, args: () => [] });
};

export const PEERS = { litserve, bentoml, ray, fastapi, bullmq } as const;
