import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { setTimeout as pause } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import {
  SERVING,
  type WorkerHealthReport,
  decodeHealth,
  NOT_SERVING,
} from '../../contracts/grpc/health.codec.js';
import { reportProblem } from '../../platform/grpc/report-check.js';
import { isAlive } from '../../platform/process/is-alive.js';
import { type CheckContext, demand, notJudged, checkedAnswer, endOf } from './check.js';
import {
  type CheckedCall,
  endText,
  NEEDED_MESSAGE_BYTES,
  PROBE_LIMIT_MS,
  type Sample,
} from './worker-client.js';

const MISSING: ReadonlySet<status> = new Set([status.UNIMPLEMENTED, status.NOT_FOUND]);

export async function standardHealth({ client }: CheckContext): Promise<string> {
  const end = await client.check();
  const method = 'grpc.health.v1.Health/Check of service ""';
  demand(!MISSING.has(end.code), `${method} is not served; every worker must serve it`);
  demand(end.code === status.OK, `${method} failed with ${endText(end)}`);
  demand(
    end.messages[0]?.status === SERVING,
    `${method} does not answer SERVING, so the gateway sends no work`,
  );
  return 'SERVING';
}

/** Every field as the gateway demands it. */
export function health(context: CheckContext): string {
  const { report } = context;
  demand(
    report.state === 'ready',
    `its Health reports the state ${report.state}, so the gateway sends no work`,
  );
  const maxMessageBytes = context.kind === 'tts' ? 1_048_576 : NEEDED_MESSAGE_BYTES;
  // Compared with itself: model and kind are another check.
  const own = report as WorkerHealthReport & { kind: CheckContext['kind'] };
  const problem = reportProblem(report, {
    model: own.model,
    kind: own.kind,
    maxMessageBytes,
  });
  demand(problem === undefined, `${problem}`);
  return `max_batch ${report.maxBatch}, max_concurrent ${report.maxConcurrent}, streams ${report.streams}`;
}

/** The gateway refuses a worker of another model. */
export function identity(context: CheckContext): string {
  const { model, kind } = context.report;
  const { model: wanted } = context.options;
  demand(
    kind === context.kind,
    `its Health reports kind "${kind}"; it must be "${context.kind}"`,
  );
  if (wanted === undefined)
    throw notJudged(`--model names the id of models.yaml; it says "${model}"`);
  demand(
    model === wanted,
    `its Health reports model "${model}"; the gateway refuses all but "${wanted}"`,
  );
  return `model ${model}, kind ${kind}`;
}

/** Sent together, as one group. */
export function startGroup(
  { client }: CheckContext,
  members: readonly Sample[],
): readonly CheckedCall<unknown>[] {
  const group = { id: randomUUID(), size: members.length };
  return members.map(sample => client.start(sample, { group }));
}

/** Probes while the engine has as much as one call of it takes. */
export async function busyHealth(context: CheckContext): Promise<string> {
  const { client, kind, samples } = context;
  const calls = startGroup(
    context,
    Array(Math.min(4, context.report.maxBatch)).fill(samples.heavy),
  );
  const untilMs = performance.now() + 8000;
  let slowestMs = 0;
  try {
    while (performance.now() < untilMs && calls.some(({ hasEnded }) => !hasEnded)) {
      for (const end of await Promise.all([client.health(kind), client.check()])) {
        demand(
          end.code === status.OK || MISSING.has(end.code),
          `a health probe while the engine computes failed with ${endText(end)}`,
        );
        slowestMs = Math.max(slowestMs, end.ms);
      }
      await pause(50);
    }
  } finally {
    for (const call of calls) call.reset();
  }
  return `slowest probe ${Math.round(slowestMs)} ms of ${PROBE_LIMIT_MS}`;
}

/** gRPC's C core forgives two, and ends the connection at the next one. */
const PINGS = 4;

/** On a connection that carries nothing else. */
export async function pings({
  options: { address, remote, pingEveryMs = 10_000 },
}: CheckContext): Promise<string> {
  const { tls } = remote;
  const caFile = tls?.caFile;
  const session = connect(
    `${tls ? 'https' : 'http'}://${address}`,
    caFile ? { ca: readFileSync(caFile) } : {},
  );
  let ended: string | undefined;
  session.on(
    'goaway',
    (code: number, _: number, data?: Buffer) =>
      (ended ??= `GOAWAY ${code} ${data?.toString() ?? ''}`.trim()),
  );
  session.on('error', ({ message }: Error) => (ended ??= message));
  session.on('close', () => (ended ??= 'closed'));
  try {
    for (let ping = 0; ping < PINGS && ended === undefined; ping += 1) {
      await pause(pingEveryMs);
      if (!session.destroyed) session.ping(() => undefined);
    }
    await pause(Math.min(pingEveryMs, 500));
    demand(
      ended === undefined,
      `an idle connection pinged every ${pingEveryMs / 1000} s was ended: ${ended}`,
    );
    return `${PINGS} pings, one each ${pingEveryMs / 1000} s`;
  } finally {
    session.destroy();
  }
}

/** SIGTERM while a request runs. It ends the worker, so this is the last check. */
export async function drain(context: CheckContext): Promise<string> {
  const { client, samples, options } = context;
  const { pid } = options;
  if (pid === undefined)
    throw notJudged('it begins with SIGTERM: --pid names the process');
  const running = client.start(samples.lasting);
  await pause(300);
  process.kill(pid, 'SIGTERM');
  await saysDraining(context);
  const refused = await endOf(
    client.start(samples.plain(0)),
    'a request to a draining worker',
    { late: 'fail' },
  );
  const isRight = refused.trailers.code === 'shutting_down';
  demand(
    isRight,
    `a request to a draining worker ended with ${endText(refused)}, not with shutting_down`,
  );
  running.complete();
  await checkedAnswer(running, 'the request that ran at SIGTERM', 'fail');
  for (const untilMs = performance.now() + 10_000; isAlive(pid); await pause(100)) {
    demand(
      performance.now() < untilMs,
      'its process still runs 10 s after its last request',
    );
    await client.health(context.kind);
  }
  return 'the running request was answered, the next one refused, and the process ended';
}

/** @throws Verdict unless both health services tell within 5 s */
async function saysDraining({ client, kind }: CheckContext) {
  for (const untilMs = performance.now() + 5000; ; await pause(50)) {
    const [check, own] = await Promise.all([client.check(), client.health(kind)]);
    const gone = [check, own].find(({ code }) => code !== status.OK);
    demand(
      gone === undefined,
      `while a request ran after SIGTERM, a probe failed with ${gone && endText(gone)}`,
    );
    if (
      check.messages[0]?.status === NOT_SERVING &&
      own.messages.map(decodeHealth)[0]?.state === 'draining'
    )
      return;
    demand(
      performance.now() < untilMs,
      'Check does not answer NOT_SERVING, with STATE_DRAINING, 5 s after SIGTERM',
    );
  }
}
