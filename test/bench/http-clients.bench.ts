import { spawnSync } from 'node:child_process';
import * as http from 'node:http';
import { type AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
import { type BenchResult, progress } from './support/bench-result.js';
import { rounded } from './support/percentiles.js';

const CONNECTIONS = 32;
const CALLS = { '/whole': 10_000, '/stream': 1_500 } as const;
const ROUNDS = 5;
const BODY = Buffer.from(JSON.stringify({ model: 'm', input: 'z'.repeat(1_000) }));
const HEADERS = { 'content-type': 'application/json', 'content-length': String(BODY.length) };
/** Answers 900 bytes at once, or 50 events one after the other. */
const SERVER = `
  const { createServer } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  const event = 'data: {"choices":[{"delta":{"content":"hello"}}]}\\n\\n';
  const answer = (url, response, left = 50) => {
    if (url === '/whole') return response.end('y'.repeat(900));
    if (left === 0) return response.end();
    response.write(event);
    setImmediate(answer, url, response, left - 1);
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(request.url, response));
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address()));
`;

type Call = (path: string) => Promise<number>;

/**
 * What would undici cost and gain where `node:http` asks an upstream: CPU of a call in
 * this thread, and CPU and memory of a process that loads it (D-55).
 */
export async function run(): Promise<BenchResult> {
  const server = new Worker(SERVER, { eval: true });
  const { port } = await new Promise<AddressInfo>(resolve => server.once('message', resolve));
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS, pipelining: 1 });
  const clients = { node: nodeCall(port, agent), undici: undiciCall(pool) };
  const results: Record<string, unknown> = {};
  for (const path of ['/whole', '/stream'] as const) {
    const us = { node: Infinity, undici: Infinity };
    for (let round = 0; round < ROUNDS; round++)
      for (const client of ['node', 'undici'] as const)
        us[client] = Math.min(us[client], await cpuOf(clients[client], path));
    results[`us of a call ${path}`] = { node: rounded(us.node), undici: rounded(us.undici) };
    progress(`  ${path}: ${JSON.stringify(us)}`);
  }
  await pool.close();
  agent.destroy();
  await server.terminate();
  const loads = { node: load('node:http'), undici: load('undici') };
  return { results: { ...results, loads }, goals: [] };
}

const nodeCall =
  (port: number, agent: http.Agent): Call =>
  path =>
    new Promise((resolve, reject) => {
      const asked = { host: '127.0.0.1', port, path, method: 'POST', agent, headers: HEADERS };
      const sent = http.request(asked, answer => {
        let bytes = 0;
        answer.on('data', (piece: Buffer) => (bytes += piece.length));
        answer.on('end', () => resolve(bytes));
      });
      sent.on('error', reject).end(BODY);
    });

const undiciCall =
  (pool: Pool): Call =>
  async path => {
    const { body } = await pool.request({ path, method: 'POST', headers: HEADERS, body: BODY });
    let bytes = 0;
    for await (const piece of body) bytes += (piece as Buffer).length;
    return bytes;
  };

/** Microseconds of this thread for each call. */
async function cpuOf(call: Call, path: keyof typeof CALLS): Promise<number> {
  let left: number = CALLS[path];
  const before = process.threadCpuUsage();
  const caller = async (): Promise<void> => {
    while (left-- > 0) await call(path);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / CALLS[path];
}

/** What a process uses that does nothing else. */
function load(name: string): { readonly ms: number; readonly mib: number } {
  const code = `require('${name}'); const { user, system } = process.cpuUsage();
    const ms = (user + system) / 1000;
    console.log(JSON.stringify({ ms, mib: process.memoryUsage().rss / 2 ** 20 }))`;
  const { stdout } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
  const { ms, mib } = JSON.parse(stdout) as { ms: number; mib: number };
  return { ms: rounded(ms), mib: rounded(mib) };
}
