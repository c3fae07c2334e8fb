import { join } from 'node:path';
import { NodeProcess } from '../support/node-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';
import { type Outcome, outcomeOf, writeLines } from './league/job-lines.js';
import { IN_FLIGHT, type JobContestant, type JobRunner } from './league/job-runner.js';
import { JOB_PEERS } from './league/peer-jobs.js';
import { presentPeers } from './league/peer-process.js';
import { SWITCHYARDS } from './league/switchyard-job.js';
import { mapped, quartilesOf, ratio } from './league/turn-table.js';
import {
  atLeast,
  atMost,
  type BenchGoal,
  type BenchResult,
  progress,
} from './support/bench-result.js';
import { ProcessUsage } from './support/process-usage.js';
import { siblingModule } from './support/sibling-module.js';

const ROUNDS = Number(process.env.LEAGUE_ROUNDS ?? 3);
const LINES = Number(process.env.LEAGUE_LINES ?? 50_000);
/** Fewer: the script starts over. */
const KILLED_LINES = Math.min(LINES, 10_000);

/** Answered, and not yet on the disk (`ResultLog`). */
const RESULTS_PER_WRITE = 64;

/**
 * `cpuMs`: CPU time of all processes of the contestant, per line; `peakMib`: the sum
 * of their peaks.
 */
type Turn = Record<'linesPerS' | 'cpuMs' | 'peakMib', number>;

interface Killed extends Outcome {
  /** Requests of a line beyond its first. */
  readonly redone: number;
  /** From the restart to the end. */
  readonly restS: number;
}

interface Scene {
  readonly upstream: NodeProcess;
  readonly runner: JobRunner;
}

/**
 * What does a batch cost here, and in what else a user could take? The same lines, to
 * one no-op upstream.
 */
export async function run(): Promise<BenchResult> {
  const { peers, missing } = await presentPeers(JOB_PEERS);
  const contestants = [...SWITCHYARDS, ...peers];
  const turns: Record<string, Turn[]> = {};
  for (let round = 0; round < ROUNDS; round++)
    for (const one of contestants) {
      const { lost, twice, ...turn } = await onStage(one, LINES, measure);
      if (lost + twice > 0)
        throw new Error(`${one.name}: ${lost} lines lost, ${twice} answered twice`);
      (turns[one.name] ??= []).push(turn);
      progress(`  ${one.name}: ${JSON.stringify(turn)}`);
    }
  const killed: Record<string, Killed> = {};
  for (const one of contestants) {
    killed[one.name] = await onStage(one, KILLED_LINES, killHalfWay);
    progress(`  ${one.name} after kill -9: ${JSON.stringify(killed[one.name])}`);
  }
  const versions = Object.fromEntries(contestants.map(({ name, version }) => [name, version]));
  const table = mapped(turns, quartilesOf);
  const shape = {
    lines: LINES,
    inFlight: IN_FLIGHT,
    rounds: ROUNDS,
    killedLines: KILLED_LINES,
  };
  return {
    results: { versions, missing, ...shape, table, killed },
    goals: goals(turns, killed),
  };
}

/** New processes each time, and what they wrote is checked. */
async function onStage<T>(
  contestant: JobContestant,
  lines: number,
  play: (scene: Scene, lines: number) => Promise<T>,
): Promise<T & Outcome> {
  const folder = temporaryFolder();
  const [input, output] = [join(folder, 'input.jsonl'), join(folder, 'output.jsonl')];
  await writeLines(input, lines);
  const script = siblingModule(import.meta.url, './league/upstream');
  await using upstream = new NodeProcess({ name: 'upstream', script, folder });
  const upstreamPort = await upstream.port();
  await using runner = await contestant.start({ folder, upstreamPort, input, output });
  const figures = await play({ upstream, runner }, lines);
  return { ...figures, ...(await outcomeOf(output, lines)) };
}

/** From the command to the finished output. */
async function measure({ runner }: Scene, lines: number): Promise<Turn> {
  const usage = new ProcessUsage(() => runner.pids);
  const startMs = performance.now();
  await runner.begin();
  await runner.finish();
  const tookMs = performance.now() - startMs;
  const { cpuMs, peakMib } = usage.end();
  return { linesPerS: (lines / tookMs) * 1000, cpuMs: cpuMs / lines, peakMib };
}

async function killHalfWay(
  { upstream, runner }: Scene,
  lines: number,
): Promise<Omit<Killed, keyof Outcome>> {
  await runner.begin();
  while ((await asked(upstream)).lines < lines / 2) await pause(20);
  await runner.kill();
  const startMs = performance.now();
  await runner.restart();
  await runner.finish();
  const restS = (performance.now() - startMs) / 1000;
  return { redone: (await asked(upstream)).again, restS };
}

/** Lines that arrived at the upstream, and requests that repeated one. */
async function asked(upstream: NodeProcess) {
  const answer = upstream.message<{ type: 'asked'; lines: number; again: number }>('asked');
  upstream.child.send('asked');
  return answer;
}

/** Of both ways here, beside each peer. */
function goals(
  turns: Readonly<Record<string, readonly Turn[]>>,
  killed: Readonly<Record<string, Killed>>,
) {
  const isOurs = (name: string): boolean => SWITCHYARDS.some(one => one.name === name);
  const peers = Object.entries(turns).filter(([name]) => !isOurs(name));
  return SWITCHYARDS.flatMap(({ name }): BenchGoal[] => {
    const { redone, lost, twice } = killed[name]!;
    return [
      ...peers.map(([peer, theirs]) =>
        atLeast(`${name}: lines/s / ${peer}`, ratio(turns[name]!, theirs, 'linesPerS'), 1),
      ),
      atMost(`${name} after kill -9: lines redone`, redone, IN_FLIGHT + RESULTS_PER_WRITE),
      atMost(`${name} after kill -9: lines lost or answered twice`, lost + twice, 0),
    ];
  });
}
