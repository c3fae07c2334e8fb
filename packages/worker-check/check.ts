import { status } from '@grpc/grpc-js';
import { type ModelKind } from '@switchyard/engine-api/engine.js';
import { within } from '@switchyard/engine-api/process/within.js';
import { type RemoteSpec } from '@switchyard/worker-protocol/channel-security.js';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { type CheckedCall, type Samples, type WorkerClient } from './worker-client.js';

export interface CheckOptions {
  /** host:port */
  readonly address: string;
  /** The `id` and `kind` of models.yaml; absent: not compared. */
  readonly model?: string | undefined;
  readonly kind?: ModelKind | undefined;
  /** Voice id of the worker; kind tts only. */
  readonly voice?: string | undefined;
  readonly remote: RemoteSpec;
  /** Largest upload that the gateway takes, in bytes. */
  readonly uploadLimitBytes: number;
  /** HTTP status that a gateway answers for a code; undefined: it knows no such code. */
  readonly statusOf: (code: string) => number | undefined;
  /** Process of a worker on this machine, which is sent SIGTERM at the end. */
  readonly pid?: number | undefined;
  /** Milliseconds between pings of an idle connection (default 10 s, as a gateway's). */
  readonly pingEveryMs?: number;
  /**
   * A gateway sends Cancel again after this time (default 100 ms); more only in tests,
   * for busy machines.
   */
  readonly cancelLimitMs?: number;
}

export interface CheckContext {
  readonly client: WorkerClient;
  readonly kind: ModelKind;
  /** @throws Verdict when its Health gave none */
  readonly report: WorkerHealthReport;
  readonly samples: Samples;
  readonly options: CheckOptions;
}

/** One demand of the protocol. */
export interface Check {
  readonly name: string;
  /** The paragraph to read, by its anchor in the guide. */
  readonly anchor: string;
  /** What a worker does that passes it. */
  readonly about: string;
  /** Judged only if that one did not fail, which this one would do as well. */
  readonly needs?: string;
  readonly kinds?: readonly ModelKind[];
  /** @returns what was seen @throws Verdict when the check fails */
  readonly run: (context: CheckContext) => string | Promise<string>;
}

/**
 * Ends a check. `fail`: what the worker does wrong, in one sentence; `not_judged`: why
 * nothing can be said.
 */
export class CheckVerdict extends Error {
  constructor(
    readonly state: 'fail' | 'not_judged',
    sentence: string,
  ) {
    super(sentence);
  }
}

export const notJudged = (why: string): CheckVerdict => new CheckVerdict('not_judged', why);

export function demand(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new CheckVerdict('fail', sentence);
}

/**
 * How the call ended. A late one is reset, and counts as `late`: some engines are
 * slow. @throws Verdict
 */
export async function endOf<M>(
  call: CheckedCall<M>,
  what: string,
  late: CheckVerdict['state'] = 'not_judged',
  limitMs = 15_000,
): CheckedCall<M>['ended'] {
  const end = await within(limitMs, call.ended);
  if (!end) {
    call.reset();
    throw new CheckVerdict(late, `${what} was not answered within ${limitMs / 1000} s`);
  }
  demand(
    !end.flooded,
    `${what} was answered without end: thousands of messages or megabytes, and no end of the stream`,
  );
  return end;
}

/** As `endOf`, for a call that must succeed. @throws Verdict */
export async function checkedAnswer<M>(
  call: CheckedCall<M>,
  what: string,
  late?: CheckVerdict['state'],
): CheckedCall<M>['ended'] {
  const end = await endOf(call, what, late);
  demand(end.code === status.OK, `${what} failed with ${end.text}`);
  return end;
}
