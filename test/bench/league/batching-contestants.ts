import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { freePort } from '../../support/free-port.js';
import { GatewayProcess } from '../../support/gateway-process.js';
import { HttpConnection } from '../../support/http-connection.js';
import { silentWav, transcriptionRequest } from '../../support/http-request.js';
import { processTree } from '../../support/process-tree.js';
import { benchModel } from '../support/bench-model.js';
import { siblingModule } from '../support/sibling-module.js';
import { DEVICE, type DeviceModel } from './device-models.js';
import { type Peer, python } from './peer-packages.js';
import { type Server, startPeer } from './peer-process.js';

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
    ...{ name: 'switchyard', version: '', port: gateway.port, pid },
    request: ({ model = 'fixed', kind, deadlineMs } = {}) =>
      transcriptionRequest({
        ...{ model, priority: kind === 'urgent' ? 'realtime' : 'batch' },
        ...(deadlineMs !== undefined && { deadlineMs }),
      }),
    devicePids: () =>
      processTree(pid)
        .filter(({ command }) => command.startsWith('switchyard worker '))
        .map(worker => worker.pid),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

interface PeerApp {
  readonly name: string;
  readonly peer: Peer;
  readonly args: (port: number) => readonly string[];
  /** Of the upload; default: as it is. */
  readonly body?: (upload: object) => object;
}

async function started(
  folder: string,
  { name, peer, args, body = upload => upload }: PeerApp,
): Promise<Contestant> {
  const own = join(folder, name);
  await mkdir(own);
  const port = await freePort();
  const pidFile = join(own, 'device.pid');
  const env = {
    ...{
      PEER_PORT: String(port),
      PEER_FOLDER: own,
      DEVICE_COSTS: JSON.stringify(DEVICE.costs),
    },
    ...{ DEVICE_PID_FILE: pidFile, PYTHONPATH: APPS, PYTHONDONTWRITEBYTECODE: '1' },
    // Neither asks the network for anything.
    ...{ RAY_USAGE_STATS_ENABLED: '0', BENTOML_DO_NOT_TRACK: 'True', BENTOML_HOME: own },
  };
  const request = ({ model = 'fixed', kind }: RequestOptions = {}): Buffer =>
    jsonRequest(body({ model, audio: AUDIO }), kind === 'bulk' ? 'X-Priority: bulk\r\n' : '');
  const answers = () => isAnswered(port, request());
  const server = await startPeer({
    name,
    peer,
    args: args(port),
    env,
    folder,
    port,
    answers,
  });
  return {
    ...server,
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

async function isAnswered(port: number, request: Buffer): Promise<boolean> {
  const connection = new HttpConnection(port);
  const { status } = await connection.exchange(request);
  connection.destroy();
  return status === 200;
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
  const place = ['--working-dir', APPS, '--host', '127.0.0.1'];
  const args = (port: number) => [
    'serve',
    'peer_bentoml:Transcriber',
    ...place,
    '--port',
    String(port),
  ];
  return started(folder, {
    name: 'bentoml',
    peer,
    args,
    body: upload => ({ uploads: [upload] }),
  });
};

/** The release that this project has. */
const bullmq = async (folder: string) => {
  const { version } = JSON.parse(
    readFileSync(resolve('node_modules/bullmq/package.json'), 'utf8'),
  ) as Peer;
  const args = [siblingModule(import.meta.url, './peers/bullmq-http')];
  const peer = { program: process.execPath, args, version };
  return started(folder, { name: 'bullmq', peer, args: () => [] });
};

export const PEERS = { litserve, bentoml, ray, fastapi, bullmq } as const;
