import { setTimeout as pause } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { decodeHealth } from '../../contracts/grpc/health.codec.js';
import { MODEL_KINDS, type ModelKind } from '../../platform/config/model-spec.js';
import { CliError, EXIT } from '../shared/cli-error.js';
import {
  largeAudio,
  messageSize,
  stream,
  streamedWav,
  answer,
  badItem,
  group,
  trailers,
} from './audio-checks.js';
import { cancel, deadline, slots, unknownCancel } from './cancel-checks.js';
import { type CheckContext, type CheckOptions, CheckVerdict, within } from './check.js';
import {
  busyHealth,
  health,
  identity,
  standardHealth,
  drain,
  pings,
} from './health-checks.js';
import { checkSamples } from './samples.js';
import { WorkerClient } from './worker-client.js';

/** One thing that the protocol asks for. */
interface Check {
  readonly name: string;
  /** The paragraph to read, by its anchor in the guide. */
  readonly anchor: string;
  /** What a worker does that passes it. */
  readonly about: string;
  /** @returns what was seen @throws Verdict */
  run(context: CheckContext): string | Promise<string>;
  /** Judged only if that one did not fail, which this one would do as well. */
  readonly needs?: string;
  readonly kinds?: readonly ModelKind[];
}

export const GUIDE = 'docs/guides/write-a-worker.md';
const HEALTH = '2-two-health-services';
const GROUPS = '3-slots-and-groups';
const CANCEL = '5-cancel';
const AUDIO = {
  anchor: '8-long-audio-and-streaming',
  needs: 'group',
  kinds: ['stt'],
} as const;

/** In the order in which they run. */
export const CHECKS: readonly Check[] = [
  {
    name: 'standard-health',
    anchor: HEALTH,
    about: 'grpc.health.v1 answers SERVING',
    run: standardHealth,
  },
  {
    name: 'health',
    anchor: HEALTH,
    about: 'its own Health is READY, each field in its range',
    run: health,
  },
  {
    name: 'identity',
    anchor: HEALTH,
    about: 'it is of that model and kind',
    run: identity,
    needs: 'health',
  },
  {
    name: 'answer',
    anchor: '1-generate-code-and-serve-one-service',
    about: 'it answers',
    run: answer,
    needs: 'health',
  },
  {
    name: 'group',
    anchor: GROUPS,
    about: 'each member of a group gets its answer',
    run: group,
    needs: 'answer',
  },
  {
    name: 'bad-item',
    anchor: GROUPS,
    about: 'a bad member of a group fails alone',
    run: badItem,
    needs: 'group',
  },
  {
    name: 'trailers',
    anchor: '7-how-a-call-fails',
    about: 'a failure has a code',
    run: trailers,
    needs: 'answer',
  },
  {
    name: 'busy-health',
    anchor: HEALTH,
    about: 'both, while the engine computes',
    run: busyHealth,
    needs: 'answer',
  },
  {
    name: 'unknown-cancel',
    anchor: CANCEL,
    about: 'Cancel of an unknown id',
    run: unknownCancel,
    needs: 'busy-health',
  },
  {
    name: 'cancel',
    anchor: CANCEL,
    about: 'Cancel within 100 ms ends the call',
    run: cancel,
    needs: 'busy-health',
  },
  {
    name: 'slots',
    anchor: GROUPS,
    about: 'as many requests at once as it reports',
    run: slots,
    needs: 'cancel',
  },
  {
    name: 'deadline',
    anchor: '6-deadlines',
    about: 'a deadline stops the work',
    run: deadline,
    needs: 'busy-health',
  },
  {
    ...AUDIO,
    name: 'message-size',
    about: 'the largest file that is sent as one message',
    run: messageSize,
  },
  {
    ...AUDIO,
    name: 'streamed-wav',
    about: 'a WAV file whose header does not know its length',
    run: streamedWav,
  },
  {
    ...AUDIO,
    name: 'large-audio',
    about: 'audio beyond 60 s and 32 MiB, in pieces',
    run: largeAudio,
  },
  {
    ...AUDIO,
    name: 'stream',
    about: 'a live stream gives one final for a commit',
    run: stream,
  },
  {
    name: 'pings',
    anchor: '9-connections-tokens-tls',
    about: 'pings as those of a gateway',
    run: pings,
  },
  {
    name: 'drain',
    anchor: '10-drain',
    about: 'SIGTERM loses no request',
    run: drain,
    needs: 'cancel',
  },
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

interface RunOptions {
  readonly checks: readonly Check[];
  /** No check goes on longer. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  onStart(check: Check): void;
  onResult(result: CheckResult): void;
}

/**
 * Runs the checks one by one. @throws CliError exit code 3 when nothing answers
 * at the address
 */
export async function runChecks(
  options: CheckOptions,
  run: RunOptions,
): Promise<readonly CheckResult[]> {
  const { signal } = run;
  const client = new WorkerClient(options.address, options.remote);
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error)),
  );
  try {
    return await Promise.race([judgeAll(client, options, run), aborted]);
  } finally {
    client.close();
  }
}

async function judgeAll(
  client: WorkerClient,
  options: CheckOptions,
  run: RunOptions,
): Promise<readonly CheckResult[]> {
  const context = await meet(client, options);
  const untilMs = performance.now() + run.limitMs;
  // On a connection of its own, beside the others, because it takes longer than
  // all of them.
  const beside = run.checks
    .filter(({ name }) => name === 'pings')
    .map(check => judge(check, context, untilMs));
  const failed = new Set<string>();
  const results: CheckResult[] = [];
  for (const check of run.checks) {
    run.onStart(check);
    const { name, needs = '' } = check;
    const judged =
      name === 'pings'
        ? beside[0]
        : failed.has(needs)
          ? skip(name, `needs ${needs}`)
          : undefined;
    const result = await (judged ?? judge(check, context, untilMs));
    if (result.state === 'fail' || failed.has(needs)) failed.add(name);
    results.push(result);
    run.onResult(result);
    run.signal.throwIfAborted();
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
  if (kinds?.includes(context.kind) === false)
    return skip(name, `not of kind ${context.kind}`);
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
    throw new CliError(
      `no worker answers at ${options.address}: ${details.slice(0, 300)}`,
      EXIT.unreachable,
    );
  const kind = options.kind ?? (await kindOf(client));
  const untilMs = performance.now() + 10_000;
  const ask = async () => (await client.health(kind)).messages.map(decodeHealth)[0];
  let report = await ask();
  for (
    ;
    report?.state === 'starting' && performance.now() < untilMs;
    report = await ask()
  )
    await pause(250);
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
async function kindOf(client: WorkerClient): Promise<ModelKind> {
  let answering: ModelKind | undefined;
  for (const kind of MODEL_KINDS) {
    const [report] = (await client.health(kind)).messages;
    if (report?.kind === kind) return kind;
    if (report) answering ??= kind;
  }
  return answering ?? 'stt';
}
