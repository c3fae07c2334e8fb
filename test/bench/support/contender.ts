import { processTree } from '../../support/process-tree.js';
import { pause } from '../../support/waiting.js';
import { progress } from './bench-result.js';
import { rounded } from './percentiles.js';
import { processCpuMs } from './process-cpu.js';
import { rssMib } from './process-memory.js';
import { type TextCaller, type TextServer, throughput } from './text-load.js';

export interface Load {
  readonly callers: number;
  readonly requests: number;
}

interface Turn {
  readonly callers: number;
  readonly perS: number;
  readonly tokens: number;
  readonly cpuMs: number;
  readonly callersCpuMs: number;
}

/** A server that is asked in turns with others, and all processes of which are known. */
export class Contender {
  readonly #turns: Turn[] = [];

  constructor(
    readonly name: string,
    readonly server: TextServer,
    private readonly pid: number | undefined,
  ) {}

  async turn({ callers, requests }: Load, caller: TextCaller): Promise<number> {
    const before = this.#spentMs();
    const start = process.cpuUsage();
    const perS = await throughput(this.server, callers, requests, caller);
    const { user, system } = process.cpuUsage(start);
    const cpuMs = this.#spentMs() - before;
    const tokens = requests * caller.maxTokens;
    this.#turns.push({
      callers,
      perS,
      tokens,
      cpuMs,
      callersCpuMs: (user + system) / 1000,
    });
    return perS;
  }

  /** Tokens per second of each round. */
  rates(callers: number): readonly number[] {
    return this.#turnsOf(callers).map(({ perS }) => perS);
  }

  cpuMsPerToken(callers: number): number {
    return this.#perToken(callers, ({ cpuMs }) => cpuMs);
  }

  /** Of this process, which asks: on few cores the server has to do without it. */
  callersCpuMsPerToken(callers: number): number {
    return this.#perToken(callers, ({ callersCpuMs }) => callersCpuMs);
  }

  /** CPU that it uses when nobody asks: what it takes from others in their turns. */
  async idleCpuShare(ms: number): Promise<number> {
    const before = this.#spentMs();
    await pause(ms);
    return rounded((this.#spentMs() - before) / ms);
  }

  /** Of all its processes now. A model file that is mapped into memory counts. */
  get rssMib(): number {
    return Math.round(processTree(this.pid).reduce((sum, { pid }) => sum + rssMib(pid), 0));
  }

  #perToken(callers: number, of: (turn: Turn) => number): number {
    const turns = this.#turnsOf(callers);
    const sum = (one: (turn: Turn) => number): number =>
      turns.reduce((total, turn) => total + one(turn), 0);
    return rounded(sum(of) / sum(({ tokens }) => tokens));
  }

  #turnsOf(callers: number): readonly Turn[] {
    return this.#turns.filter(turn => turn.callers === callers);
  }

  #spentMs(): number {
    return processTree(this.pid).reduce((sum, { pid }) => sum + processCpuMs(pid), 0);
  }
}

/**
 * Short turns and many rounds: what else the machine does hits neighbours alike, and the
 * ratio of a round is that of neighbours. Every order comes up as often as any other.
 */
export async function inTurns(
  all: readonly Contender[],
  {
    rounds,
    loads,
    caller,
  }: {
    readonly rounds: number;
    readonly loads: readonly Load[];
    readonly caller: TextCaller;
  },
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const load of loads) {
      const told: string[] = [];
      for (const one of orderOf(all, round))
        told.push(`${one.name} ${Math.round(await one.turn(load, caller))}`);
      progress(
        `  round ${round + 1} of ${rounds}, ${load.callers} callers, tokens/s: ${told.join(', ')}`,
      );
    }
  }
}

function orderOf<T>(all: readonly T[], round: number): readonly T[] {
  const first = Math.floor(round / 2) % all.length;
  const turned = [...all.slice(first), ...all.slice(0, first)];
  return round % 2 === 0 ? turned : turned.reverse();
}
