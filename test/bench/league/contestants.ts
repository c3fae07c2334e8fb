import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import {
  GatewayProcess,
  type GatewayProcessOptions,
  type SettingOverrides,
} from '../../support/gateway-process.js';
import { haproxy, litellm, litellmArgs, nginx, portkey } from './peer-packages.js';
import { isAnswered, type PeerStart, type Server, serverOf, startPeer } from './peer-process.js';

/** A way from a client to the upstream. Without a `pid` there is nothing between. */
export interface Contestant extends Server {
  readonly headers: Readonly<Record<string, string>>;
}

export interface Place {
  readonly folder: string;
  readonly upstreamPort: number;
}

export const direct = ({ upstreamPort }: Place): Contestant => ({
  name: 'direct',
  version: '',
  port: upstreamPort,
  headers: {},
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

const MODEL: Omit<ModelSpec, 'options'> = {
  id: 'bench',
  kind: 'llm',
  engine: 'openai-http',
  capabilities: ['chat', 'completions', 'tools', 'logprobs'],
  ...{ aliases: [], languages: [], replicas: 1, addresses: [], voices: {} },
};

/** Its chats go to the upstream, as many at a time as any bench here asks for. */
export function gatewayTo(
  upstreamPort: number,
  settings: SettingOverrides,
  options: GatewayProcessOptions,
): Promise<GatewayProcess> {
  const upstream = {
    baseUrl: `http://127.0.0.1:${upstreamPort}/v1`,
    model: 'bench',
    maxConcurrent: 64,
  };
  return GatewayProcess.start([{ ...MODEL, options: upstream }], settings, options);
}

/**
 * @param clone of another commit, with its build, to compare with: it is called `before`
 */
export async function switchyard(
  { folder, upstreamPort }: Place,
  clone?: string,
): Promise<Contestant> {
  const name = clone === undefined ? 'switchyard' : 'before';
  const own = join(folder, name);
  await mkdir(own, { recursive: true });
  const gateway = await gatewayTo(upstreamPort, {}, { folder: own, clone });
  return { ...serverOf(gateway, name), headers: {} };
}

/** By its README; the upstream is named in every request. */
async function portkeyGateway({ folder, upstreamPort }: Place): Promise<Contestant> {
  const headers = {
    ...{ authorization: 'Bearer none', 'x-portkey-provider': 'openai' },
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
  };
  const env = { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' };
  return started({
    ...{ name: 'portkey', peer: await portkey(), folder, headers, env: () => env },
    args: port => [`--port=${port}`],
  });
}

/** By its documentation of the proxy: one worker. */
async function litellmProxy({ folder, upstreamPort }: Place): Promise<Contestant> {
  const params = {
    model: 'openai/bench',
    api_base: `http://127.0.0.1:${upstreamPort}/v1`,
    api_key: 'none',
  };
  const config = join(folder, 'litellm.yaml');
  await writeFile(
    config,
    JSON.stringify({ model_list: [{ model_name: 'bench', litellm_params: params }] }),
  );
  const key = 'sk-0123456789abcdef0123456789abcdef';
  const env = {
    LITELLM_LOG: 'ERROR',
    LITELLM_MODE: 'PRODUCTION',
    LITELLM_MASTER_KEY: key,
  };
  return started({
    ...{ name: 'litellm', peer: await litellm(), folder, env: () => env },
    headers: { authorization: `Bearer ${key}` },
    args: port => litellmArgs(config, port),
  });
}

/** The floor: a proxy in C that does not read what it passes on. */
async function nginxProxy({ folder, upstreamPort }: Place): Promise<Contestant> {
  const config = join(folder, 'nginx.conf');
  await mkdir(join(folder, 'temp'), { recursive: true });
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = paths.map(name => `${name}_temp_path ${folder}/temp/${name};`).join(' ');
  const upstream = `upstream bench { server 127.0.0.1:${upstreamPort}; keepalive 64; }`;
  const proxy = 'proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;';
  const text = (port: number): string =>
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr; events { worker_connections 1024; }
     http { access_log off; ${temporary} keepalive_requests 1000000; ${upstream}
     server { listen 127.0.0.1:${port}; location / { proxy_pass http://bench; ${proxy} } } }`;
  return started({
    ...{ name: 'nginx', peer: await nginx(), folder, headers: {} },
    args: port => writeFile(config, text(port)).then(() => ['-p', folder, '-c', config]),
  });
}

/** The other floor: it reads heads, and passes bodies on as they come. */
async function haproxyProxy({ folder, upstreamPort }: Place): Promise<Contestant> {
  const config = join(folder, 'haproxy.cfg');
  const defaults = ['mode http', 'option http-no-delay', 'http-reuse always'];
  const limits = ['connect', 'client', 'server'].map(side => `timeout ${side} 60s`);
  const lines = (port: number): readonly string[] => [
    ...['global', 'nbthread 1', 'defaults', ...defaults, ...limits, 'listen bench'],
    ...[`bind 127.0.0.1:${port}`, `server upstream 127.0.0.1:${upstreamPort}`, ''],
  ];
  return started({
    ...{ name: 'haproxy', peer: await haproxy(), folder, headers: {} },
    args: port => writeFile(config, lines(port).join('\n')).then(() => ['-db', '-f', config]),
  });
}

async function started(
  start: Omit<PeerStart, 'answers'> & Pick<Contestant, 'headers'>,
): Promise<Contestant> {
  const { headers } = start;
  const request = chatRequest({ headers }, false);
  const server = await startPeer({ ...start, answers: port => isAnswered(port, request) });
  return { ...server, headers };
}

/** What every contestant is sent; a peer's own headers name the upstream. */
export function chatRequest({ headers }: Pick<Contestant, 'headers'>, stream: boolean): Buffer {
  const content = 'Say something that takes a while to say. '.repeat(5);
  const body = JSON.stringify({
    model: 'bench',
    messages: [{ role: 'user', content }],
    ...(stream && { stream }),
  });
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(`POST /v1/chat/completions HTTP/1.1\r\n${head}${own.join('')}\r\n${body}`);
}

export const PEERS = {
  haproxy: haproxyProxy,
  nginx: nginxProxy,
  portkey: portkeyGateway,
  litellm: litellmProxy,
} as const;
