import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { SERVING, type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';
import { reportProblem } from '../../platform/grpc/report-check.js';
import { type CheckContext, demand, CheckVerdict } from './check.js';
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
    throw new CheckVerdict(
      'not_judged',
      `--model names the id of models.yaml; it says "${model}"`,
    );
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
