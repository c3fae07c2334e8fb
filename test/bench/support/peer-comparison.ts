import { basename } from 'node:path';
import { type GatewayProcess } from '../../support/gateway-process.js';
import { atLeast, type BenchGoal, progress } from './bench-result.js';
import { LlamaServer, type ServerShape } from './llama-server.js';
import { median, rounded } from './percentiles.js';
import { processCpuMs } from './process-cpu.js';
import { mappedFile, processTree } from '../../support/process-tree.js';
import { answerOf, type TextCaller, type TextServer, throughput } from './text-load.js';

export interface PeerOptions {
  readonly binary: string;
  readonly shape: ServerShape;
  readonly gateway: GatewayProcess;
  readonly own: TextServer;
  readonly caller: TextCaller;
  readonly concurrent: readonly number[];
  readonly rounds: number;
}

interface Contender {
  readonly name: 'own' | 'sameKernels' | 'asBuilt';
  readonly server: TextServer;
  readonly pid: number | undefined;
  readonly rates: Map<number, number[]>;
  /** CPU milliseconds per token, of all its processes. */
  readonly cpuMs: Map<number, number[]>;
}

const KERNELS = /\/libggml-cpu[^/]*\.so/;
const COMPARED = { prompts: 8, tokens: 32 };

/**
 * Beside llama.cpp's own server, in turns: once with the CPU kernels that this engine runs on, so that only the servers differ, and
 * once as it was built for this machine, which is another compiler's work on the same source.
 */
export async function besidePeer(options: PeerOptions): Promise<{ results: object; goals: BenchGoal[] }> {
  const { binary, shape, gateway, own } = options;
  const kernels = kernelsOf(gateway);
  await using built = await LlamaServer.start(binary, shape);
  await using same = kernels === undefined ? undefined : await LlamaServer.start(binary, shape, kernels);
  const contender = (name: Contender['name'], server: TextServer, pid: number | undefined): Contender => ({
    ...{ name, server, pid, rates: new Map(), cpuMs: new Map() },
  });
  const us = contender('own', own, gateway.process.child.pid);
  const peers = [
    ...(same ? [contender('sameKernels', { ...own, url: same.url }, same.pid)] : []),
    contender('asBuilt', { ...own, url: built.url }, built.pid),
  ];
  const answers = await compared(us, peers[0]!);
  for (const one of [us, ...peers]) await throughput(one.server, 8, 8, options.caller);
  for (let round = 0; round < options.rounds; round++)
    for (const callers of options.concurrent) await takeTurns([us, ...peers], callers, options);
  const results = {
    kernels: kernels && basename(kernels),
    answers,
    ...Object.fromEntries([us, ...peers].map(one => [one.name, told(one)])),
  };
  return { results, goals: peers.flatMap(peer => goalsOf(us, peer, options.concurrent)) };
}

/** The library of kernels that the engine's process has chosen for this CPU. */
function kernelsOf({ process: { child } }: GatewayProcess): string | undefined {
  const engine = processTree(child.pid).find(({ command }) => command.includes('llama.child'));
  return engine && mappedFile(engine.pid, KERNELS);
}

/** @throws Error when the two do not do the same work; texts may differ where two tokens are nearly as likely. */
async function compared(us: Contender, peer: Contender): Promise<object> {
  let same = 0;
  for (let at = 0; at < COMPARED.prompts; at++) {
    const prompt = `${at} of the same prompts for both: `.repeat(2);
    const [mine, theirs] = await Promise.all([us, peer].map(({ server }) => answerOf(server, prompt, COMPARED.tokens)));
    if (mine!.tokens !== theirs!.tokens || mine!.promptTokens !== theirs!.promptTokens)
      throw new Error(`The servers count differently: ${JSON.stringify({ mine, theirs })}`);
    if (mine!.text === theirs!.text) same += 1;
  }
  return { compared: COMPARED.prompts, sameTokenCounts: COMPARED.prompts, sameTexts: same };
}

async function takeTurns(all: readonly Contender[], callers: number, { caller }: PeerOptions): Promise<void> {
  for (const { name, server, pid, rates, cpuMs } of all) {
    const requests = Math.max(4, callers * 2);
    const spent = cpuOf(pid);
    const perS = await throughput(server, callers, requests, caller);
    add(cpuMs, callers, (cpuOf(pid) - spent) / (requests * caller.maxTokens));
    add(rates, callers, perS);
    progress(`  ${callers} callers, ${name}: ${Math.round(perS)} tokens/s`);
  }
}

const cpuOf = (pid: number | undefined): number =>
  processTree(pid).reduce((sum, process) => sum + processCpuMs(process.pid), 0);

function add(series: Map<number, number[]>, callers: number, value: number): void {
  series.set(callers, [...(series.get(callers) ?? []), value]);
}

function told({ rates, cpuMs }: Contender): object {
  const medians = (series: Map<number, number[]>): object =>
    Object.fromEntries([...series].map(([callers, values]) => [callers, rounded(median(values))]));
  return { tokensPerS: medians(rates), cpuMsPerToken: medians(cpuMs) };
}

function goalsOf(us: Contender, peer: Contender, concurrent: readonly number[]): BenchGoal[] {
  const kind = peer.name === 'asBuilt' ? 'as built for this machine' : 'with the same kernels';
  // Round by round: a slow minute hits both.
  const ratio = (callers: number): number =>
    median(us.rates.get(callers)!.map((own, round) => own / peer.rates.get(callers)![round]!));
  return concurrent.map(callers =>
    atLeast(`tokens/s / llama.cpp server ${kind}, ${callers} callers`, ratio(callers), 1),
  );
}
