import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.js';
import { type GatewayProcess } from '../../support/gateway-process.js';
import { HttpConnection } from '../../support/http-connection.js';
import { processTree } from '../../support/process-tree.js';
import { pause } from '../../support/waiting.js';
import { progress } from '../support/bench-result.js';
import { processCpuMs } from '../support/process-cpu.js';
import { rssMib } from '../support/process-memory.js';
import { type Peer } from './peer-packages.js';
import { mapped } from './turn-table.js';

/** One that takes part in a league. */
export interface Server extends AsyncDisposable {
  readonly name: string;
  readonly version: string;
  readonly port: number;
  /** Its processes are this one and all below it. */
  readonly pid?: number | undefined;
}

export interface PeerStart {
  readonly name: string;
  readonly peer: Peer;
  readonly args: (port: number) => readonly string[] | Promise<readonly string[]>;
  readonly env?: (port: number) => NodeJS.ProcessEnv;
  /** For its log. */
  readonly folder: string;
  /** Whether it serves requests yet; may wait for it. */
  readonly answers: (port: number, signal: AbortSignal) => Promise<boolean>;
}

/** An answer to this request. */
export async function isAnswered(port: number, request: Buffer): Promise<boolean> {
  const connection = new HttpConnection(port);
  const { status } = await connection.exchange(request);
  connection.destroy();
  return status === 200;
}

/** Ours, in a league. */
export const serverOf = (gateway: GatewayProcess, name: string): Server => ({
  ...{ name, version: '', port: gateway.port, pid: gateway.process.child.pid },
  [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
});

/** Python programs import for minutes beside other work. */
const READY_MS = 300_000;
const ASK_MS = 5_000;
/** Of its log, in the error. */
const LOG_LINES = 12;
/** Names of peers to leave out, such as `litellm,portkey`. */
const WITHOUT = (process.env.LEAGUE_WITHOUT ?? '').split(',');

/** @throws Error with the end of its log when it ends, or does not answer within 5 minutes */
export async function startPeer({
  name,
  peer,
  args,
  env,
  folder,
  answers,
}: PeerStart): Promise<Server> {
  const port = await freePort();
  const child = spawn(peer.program, [...peer.args, ...(await args(port))], {
    env: { ...process.env, ...peer.env, ...env?.(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const logFile = join(folder, `${name}.log`);
  const log = createWriteStream(logFile);
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const exited = once(child, 'exit');
  const dispose = async (): Promise<void> => {
    const tree = processTree(child.pid);
    for (const { pid } of tree) signal(pid, 'SIGCONT');
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await exited;
    clearTimeout(killer);
    for (const { pid, command } of tree) if (isRunning(pid, command)) signal(pid, 'SIGKILL');
    log.end();
    await once(log, 'finish');
  };
  for (const endMs = performance.now() + READY_MS; performance.now() < endMs; await pause(250)) {
    const { pid } = child;
    if (await answers(port, AbortSignal.timeout(ASK_MS)))
      return { name, version: peer.version, port, pid, [Symbol.asyncDispose]: dispose };
    if (child.exitCode !== null || child.signalCode !== null) break;
  }
  const end = child.exitCode ?? child.signalCode ?? 'it still ran';
  await dispose();
  const lines = (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(-LOG_LINES);
  throw new Error(`${name} ${peer.version} answered no request (${end}):\n${lines.join('\n')}`);
}

const isRunning = (pid: number, command: string): boolean =>
  processTree(pid).some(one => one.pid === pid && one.command === command);

interface Peers<T> {
  readonly peers: readonly T[];
  readonly missing: Readonly<Record<string, string>>;
}

export const startPeers = <T extends Server>(
  starts: Readonly<Record<string, () => Promise<T>>>,
  stack: AsyncDisposableStack,
): Promise<Peers<T>> => presentPeers(mapped(starts, start => async () => stack.use(await start())));

/** One after the other; one that cannot be had is named in `missing`. */
export async function presentPeers<T>(
  starts: Readonly<Record<string, () => Promise<T>>>,
): Promise<Peers<T>> {
  const peers: T[] = [];
  const missing: Record<string, string> = {};
  for (const [name, start] of Object.entries(starts)) {
    if (WITHOUT.includes(name)) continue;
    try {
      peers.push(await start());
    } catch (error) {
      missing[name] = (error as Error).message.split('\n', 1)[0] ?? '';
      progress(`  without ${name}: ${missing[name]}`);
    }
  }
  return { peers, missing };
}

/** CPU milliseconds of all its processes since they started. */
export const cpuMsOf = (one: Server): number =>
  processesOf(one).reduce((sum, { pid }) => sum + processCpuMs(pid), 0);

/** Resident memory of all its processes, MiB. */
export const rssMibOf = (one: Server): number =>
  processesOf(one).reduce((sum, { pid }) => sum + rssMib(pid), 0);

/**
 * SIGSTOP for all its processes, so that it takes nothing while others have their turn;
 * SIGCONT ends that.
 */
export function signalAll(one: Server, name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const { pid } of processesOf(one)) signal(pid, name);
}

/** A process that has just ended is left alone. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export const isGone = (one: Server): boolean => processesOf(one).length === 0;

const processesOf = ({ pid }: Server) => (pid === undefined ? [] : processTree(pid));
