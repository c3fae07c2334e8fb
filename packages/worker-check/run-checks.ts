import { setTimeout as pause } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { MODEL_KINDS, type ModelKind } from '@switchyard/engine-api/engine.js';
import { within } from '@switchyard/engine-api/process/within.js';
import { decodeHealth } from '@switchyard/worker-protocol/health.codec.js';
import { ANSWER_CHECKS } from './answer-checks.js';
import { AUDIO_CHECKS } from './audio-checks.js';
import { CANCEL_CHECKS } from './cancel-checks.js';
import { type Check, type CheckContext, type CheckOptions, CheckVerdict } from './check.js';
import { CONNECTION_CHECKS } from './connection-checks.js';
import { HEALTH_CHECKS } from './health-checks.js';
import { checkSamples } from './samples.js';
import { WorkerClient } from './worker-client.js';

const GUIDE = 'docs/guides/write-a-worker.md';
/** The pings of a gateway take 40 s; everything else runs meanwhile. */
const RUN_LIMIT_MS = 60_000;

/** In the order in which they run. */
export const CHECKS: readonly Check[] = [
  ...HEALTH_CHECKS,
  ...ANSWER_CHECKS,
  ...CANCEL_CHECKS,
  ...AUDIO_CHECKS,
  ...CONNECTION_CHECKS,
];

export interface CheckResult {
  readonly name: string;
  readonly state: 'pass' | CheckVerdict['state'];
  /** What was seen, what is wrong, or why it was not judged. */
  readonly detail: string;
  readonly ms: number;
  /** Paragraph to read after a failure. */
  readonly guide?: string;
}

/** Nothing answers at the address. */
export class NoWorkerError extends Error {}

interface CheckRun {
  readonly checks: readonly Check[];
  readonly signal: AbortSignal;
  readonly onStart: (check: Check) => void;
  readonly onResult: (result: CheckResult) => void;
}

/**
 * Runs the checks one by one. @throws NoWorkerError when nothing answers
 * at the address
 */
export async function runChecks(
  options: CheckOptions,
  run: CheckRun,
): Promise<readonly CheckResult[]> {
  const { signal } = run;
  using client = new WorkerClient(options.address, options.remote);
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error)),
  );
  return await Promise.race([judgeAll(client, options, run), aborted]);
}

async function judgeAll(
  client: WorkerClient,
  options: CheckOptions,
  { checks, signal, onStart, onResult }: CheckRun,
) {
  const context = await meet(client, options);
  const untilMs = performance.now() + RUN_LIMIT_MS;
  // On a connection of its own, beside the others, because it takes longer than
  // all of them.
  const pings = checks.find(({ name }) => name === 'pings');
  const beside = pings && judge(pings, context, untilMs);
  const failed = new Set<string>();
  const results: CheckResult[] = [];
  for (const check of checks) {
    onStart(check);
    const { name, needs = '' } = check;
    const isBlocked = failed.has(needs);
    const result = isBlocked
      ? skip(name, `needs ${needs}`)
      : await (check === pings ? beside! : judge(check, context, untilMs));
    if (isBlocked || result.state === 'fail') failed.add(name);
    results.push(result);
    onResult(result);
    signal.throwIfAborted();
  }
  return results;
}

const skip = (name: string, detail: string): CheckResult => ({
  name,
  state: 'not_judged',
  detail,
  ms: 0,
});

async function judge(
  { name, kinds, anchor, run }: Check,
  context: CheckContext,
  untilMs: number,
): Promise<CheckResult> {
  if (kinds?.includes(context.kind) === false) return skip(name, `not of kind ${context.kind}`);
  const startedAtMs = performance.now();
  const sinceMs = () => Math.round(performance.now() - startedAtMs);
  try {
    const detail = await within(untilMs - startedAtMs, Promise.resolve(run(context)));
    if (detail === undefined) return skip(name, 'the time of the run is over');
    return { name, state: 'pass', detail, ms: sinceMs() };
  } catch (error) {
    if (!(error instanceof CheckVerdict)) throw error;
    const { state, message: detail } = error;
    return {
      name,
      state,
      detail,
      ms: sinceMs(),
      ...(state === 'fail' && { guide: `${GUIDE}#${anchor}` }),
    };
  }
}

/** Who answers there, and as what; a worker that still loads is waited for. */
async function meet(client: WorkerClient, options: CheckOptions): Promise<CheckContext> {
  const { code, details, trailers: said } = await client.check();
  if (code === status.UNAVAILABLE && said.code === undefined)
    throw new NoWorkerError(`no worker answers at ${options.address}: ${details.slice(0, 300)}`);
  const kind = options.kind ?? (await kindOf(client));
  const untilMs = performance.now() + 10_000;
  const ask = async () => (await client.health(kind)).messages.map(decodeHealth)[0];
  let report = await ask();
  while (report?.state === 'starting' && performance.now() < untilMs) {
    await pause(250);
    report = await ask();
  }
  const samples = checkSamples(kind, options.voice ?? '');
  return {
    client,
    kind,
    samples,
    options,
    get report() {
      if (report) return report;
      throw new CheckVerdict('fail', 'its own Health gives no answer');
    },
  };
}

/** Of the service whose Health says so; else the first that answers at all. */
async function kindOf(client: WorkerClient) {
  let answering: ModelKind | undefined;
  for (const kind of MODEL_KINDS) {
    const [report] = (await client.health(kind)).messages;
    if (report?.kind === kind) return kind;
    if (report) answering ??= kind;
  }
  return answering ?? 'stt';
}
