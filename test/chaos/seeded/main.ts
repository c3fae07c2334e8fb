import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Agent, setGlobalDispatcher } from 'undici';
import { runEpisodes, type EpisodeResult } from './episode.js';
import { type FaultName, FAULTS } from './faults.js';
import { planEpisode, TOPOLOGIES, type TopologyName, type WantedFault } from './plan.js';
import { episodeText, planText, summaryTable } from './report.js';
import { OPERATION_NAMES, type OperationName, USUAL_OPERATIONS } from './traffic.js';

const HELP = `npm run chaos -- [--seed N] [--episodes M] [--faults NAME[:SECONDS],…] [--topology single|cluster]

Runs the built product under mixed traffic of two tenants, strikes it with faults, and checks what it promises: each
accepted request is settled once, with its own answer, for its own tenant, in bounded time; afterwards slots and
descriptors are free, and every process ends in time after SIGTERM. Settings are the defaults.

  --seed N        plan of the first episode; the next ones have N+1, N+2, … The same seed is the same plan.
                  (a random number)
  --episodes M    how many (1)
  --faults LIST   each of these once per episode; :SECONDS says how long. (one to three, drawn)
  --topology T    single: one gateway with its workers and processor, SQLite
                  cluster: two gateways, Redis, PostgreSQL, workers that pull, two processors (drawn)
  --traffic LIST  what callers do: ${OPERATION_NAMES.join(', ')} (all but chats,
                  which are many at once)
  --set P=VALUE   a setting other than its default, such as --set requests.lease_ms=2000; may be repeated
  --from FOLDER   a built release that runs until a rolling-restart
  --out FOLDER    where logs of failed episodes are written (a temporary folder)
  --keep          keep the logs of all episodes
  --share         start processes once for all episodes of a topology, and again after one that failed; faster
  --plan          print the plans and run nothing
  --help          this text

A failed episode prints its faults with their times, what was violated, and the folder of its logs. The last line is
JSON: {"seed", "episodes", "passed", "failed"}. Exit code 1: an episode failed.

Faults:
${[...FAULTS.values()].map(({ name, about, topologies, durationsMs }) => `  ${name.padEnd(18)}${about}${limits(topologies, durationsMs)}`).join('\n')}`;

function limits(topologies: readonly string[], durationsMs: readonly number[]): string {
  const seconds = durationsMs.filter(ms => ms > 0).map(ms => ms / 1000);
  const where = topologies.length === 1 ? `${topologies[0]} only` : '';
  const text = [where, seconds.length > 0 ? `${seconds.join(', ')} s` : '']
    .filter(Boolean)
    .join('; ');
  return text && ` (${text})`;
}

/** A mistake of the command line: printed without a stack. */
class UsageError extends Error {}

const print = (text: string): void => void process.stderr.write(`${text}\n`);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      episodes: { type: 'string', default: '1' },
      faults: { type: 'string' },
      topology: { type: 'string' },
      traffic: { type: 'string', default: USUAL_OPERATIONS.join(',') },
      set: { type: 'string', multiple: true, default: [] },
      from: { type: 'string' },
      out: { type: 'string' },
      keep: { type: 'boolean', default: false },
      share: { type: 'boolean', default: false },
      plan: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return (print(HELP), 0);
  const seed = wholeNumber('--seed', values.seed ?? String(Date.now() % 1_000_000), 0);
  const episodes = wholeNumber('--episodes', values.episodes, 1);
  const options = {
    topology: topologyNamed(values.topology),
    faults: values.faults?.split(',').map(faultNamed),
  };
  refuseElsewhere(options.topology, options.faults ?? []);
  const plans = Array.from({ length: episodes }, (_, index) => planEpisode(seed + index, options));
  if (values.plan) return (print(plans.map(planText).join('\n')), 0);
  const out = values.out ? resolve(values.out) : mkdtempSync(join(tmpdir(), 'switchyard-chaos-'));
  const settings = Object.fromEntries(values.set.map(settingNamed));
  const operations = values.traffic.split(',').map(operationNamed);
  const results: EpisodeResult[] = [];
  const isShared = values.share;
  // One topology after the other, so that its processes can be shared.
  if (isShared) plans.sort((a, b) => a.topology.localeCompare(b.topology));
  await runEpisodes(
    plans,
    { out, settings, operations, from: values.from, keep: values.keep, isShared },
    result => {
      results.push(result);
      print(`${results.length}/${episodes} ${episodeText(result)}`);
    },
  );
  const failed = results.filter(({ violations }) => violations.length > 0).length;
  print(`\n${summaryTable(results)}\n`);
  process.stdout.write(
    `${JSON.stringify({ seed, episodes, passed: episodes - failed, failed })}\n`,
  );
  return failed > 0 ? 1 : 0;
}

function wholeNumber(flag: string, text: string, min: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < min)
    throw new UsageError(`${flag} must be a whole number from ${min}; got "${text}".`);
  return number;
}

function topologyNamed(name: string | undefined): TopologyName | undefined {
  const found = TOPOLOGIES.find(known => known === name);
  if (name !== undefined && !found)
    throw new UsageError(`--topology must be ${TOPOLOGIES.join(' or ')}; got "${name}".`);
  return found;
}

function faultNamed(text: string): WantedFault {
  const [name = '', seconds] = text.split(':');
  if (!FAULTS.has(name as FaultName))
    throw new UsageError(
      `--faults: no fault "${name}". There are: ${[...FAULTS.keys()].join(', ')}.`,
    );
  return {
    name: name as FaultName,
    ms: seconds === undefined ? undefined : wholeNumber(`--faults ${name}`, seconds, 1) * 1000,
  };
}

function operationNamed(name: string): OperationName {
  const found = OPERATION_NAMES.find(known => known === name);
  if (!found)
    throw new UsageError(
      `--traffic: no operation "${name}". There are: ${OPERATION_NAMES.join(', ')}.`,
    );
  return found;
}

function settingNamed(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--set must be PATH=VALUE; got "${text}".`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** A fault of PostgreSQL has no place in a topology without one. */
function refuseElsewhere(topology: TopologyName | undefined, faults: readonly WantedFault[]): void {
  for (const { name } of faults) {
    const { topologies } = FAULTS.get(name)!;
    if (topologies.length < TOPOLOGIES.length && topology !== topologies[0])
      throw new UsageError(`--faults: ${name} needs --topology ${topologies[0]}.`);
  }
}

// Every request has its own connection, which ends with it: what a gateway has open
// afterwards is its own.
setGlobalDispatcher(new Agent({ pipelining: 0 }));
try {
  // What an episode that broke off had begun would keep this process.
  process.exit(await main());
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  print(`✗ ${error.message}`);
  process.exitCode = 1;
}
