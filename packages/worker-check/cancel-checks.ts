import { setTimeout as pause } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { type ProgressResponse } from '@switchyard/worker-protocol/call.codec.js';
import { slotsOf } from '@switchyard/worker-protocol/worker-slots.js';
import { type Check, type CheckContext, CheckVerdict, demand, endOf, notJudged } from './check.js';
import { CHECKED_LIMIT_MS, type CheckedCall } from './worker-client.js';

/** Cancels that are tried; a busy machine answers one of them in time. */
const ATTEMPTS = 3;
/** A Cancel can overtake its own call. */
const KNOWN_WITHIN_MS = 1000;
const MAX_HELD = 128;
const ANCHOR = '5-cancel';

/** Whether a cancelled call ends, and a Cancel is answered. */
export const CANCEL_CHECKS: readonly Check[] = [
  {
    name: 'unknown-cancel',
    anchor: ANCHOR,
    about: 'Cancel of an unknown id',
    needs: 'busy-health',
    async run({ client, kind }) {
      const end = await client.cancel(kind, 'check-never-sent');
      demand(
        end.code === status.OK,
        `Cancel of an unknown request failed with ${end.text}; it must be answered`,
      );
      demand(
        end.messages[0]?.acknowledged === false,
        'Cancel of an unknown request is answered with acknowledged: true',
      );
      return 'acknowledged: false';
    },
  },
  {
    name: 'cancel',
    anchor: ANCHOR,
    about: 'Cancel within 100 ms ends the call',
    needs: 'busy-health',
    async run(context) {
      const { cancelLimitMs = 100 } = context.options;
      const times: number[] = [];
      let late = 0;
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const call = context.client.start(context.samples.lasting);
        const tookMs = await cancelCall(context, call);
        if (tookMs === undefined) continue;
        times.push(tookMs);
        if (await judgeEnd(call)) late += 1;
      }
      if (times.length === 0)
        throw notJudged('each request was answered before its Cancel arrived');
      const bestMs = Math.round(Math.min(...times));
      demand(
        bestMs <= cancelLimitMs,
        `Cancel was answered after ${bestMs} ms; the limit is ${cancelLimitMs} ms`,
      );
      return `acknowledged after ${bestMs} ms${late === 0 ? '' : `, ${late} late answers`}`;
    },
  },
  {
    name: 'attempt',
    anchor: ANCHOR,
    about: 'Progress and Cancel name the attempt',
    needs: 'cancel',
    async run({ client, kind, samples }) {
      const call = client.start(samples.lasting);
      try {
        const { onDevice, limitMs } = await known({ client, kind }, call);
        demand(
          !onDevice || limitMs >= CHECKED_LIMIT_MS,
          `limit_ms is ${limitMs}; it must be the sum of the time_limit_ms of all members`,
        );
        const end = await client.cancel(kind, call.id, 'another-attempt');
        demand(
          end.messages[0]?.acknowledged === false,
          'Cancel of another attempt at a running request is answered with acknowledged: true',
        );
        if (call.hasEnded) throw notJudged('the request was answered before its Cancel arrived');
      } finally {
        call.reset();
      }
      return 'known: true, acknowledged: false';
    },
  },
  {
    name: 'slots',
    anchor: '3-slots-and-groups',
    about: 'as many requests at once as it reports',
    needs: 'cancel',
    /** Sends as many requests as a gateway does; Cancel must reach each of them. */
    async run(context) {
      const { credits, overdraft } = slotsOf(context.report);
      const count = Math.min(MAX_HELD, credits + overdraft);
      const calls = Array.from({ length: count }, () =>
        context.client.start(context.samples.lasting),
      );
      try {
        // While all others are held: one that waits outside would come in as soon as those
        // before it end.
        await cancelCall(context, calls.at(-1)!);
        await Promise.all(calls.map(call => cancelCall(context, call)));
        await Promise.all(calls.map(judgeEnd));
      } catch (error) {
        if (!(error instanceof CheckVerdict)) throw error;
        const { state, message } = error;
        throw new CheckVerdict(state, `of ${count} requests at once: ${message}`);
      } finally {
        for (const call of calls) call.reset();
      }
      return `${count} requests at once`;
    },
  },
  {
    name: 'deadline',
    anchor: '6-deadlines',
    about: 'a deadline stops the work',
    needs: 'busy-health',
    /** From outside, Health tells whether the work has stopped. */
    async run({ client, kind, samples }) {
      const inFlight = async () => (await client.health(kind)).messages[0]?.inFlight ?? 0;
      const before = await inFlight();
      const call = client.start(samples.lasting, { deadlineMs: 500 });
      let most = before;
      for (; !call.hasEnded; await pause(20)) most = Math.max(most, await inFlight());
      const { code } = await call.ended;
      if (code === status.OK) throw notJudged('the request was answered before its deadline');
      if (most === before) throw notJudged('its Health shows no request in_flight while one runs');
      const untilMs = performance.now() + 10_000;
      for (; (await inFlight()) > before; await pause(50))
        demand(
          performance.now() < untilMs,
          'a call is still in_flight 10 s after its deadline has passed',
        );
      return 'the work stops';
    },
  },
];

/** Asks how far it is until the worker knows it. */
async function known(
  { client, kind }: Pick<CheckContext, 'client' | 'kind'>,
  call: CheckedCall<unknown>,
): Promise<ProgressResponse> {
  const startedAtMs = performance.now();
  for (; !call.hasEnded; await pause(5)) {
    const end = await client.progress(kind, call.id, call.id);
    if (!end.isServed)
      throw notJudged('it has no Progress: its time limits count from its last answer');
    demand(end.code === status.OK, `Progress of a running request failed with ${end.text}`);
    const [progress] = end.messages;
    if (progress?.known) return progress;
    demand(
      performance.now() - startedAtMs < KNOWN_WITHIN_MS,
      'Progress does not know a request that runs: known is false for 1 s',
    );
  }
  throw notJudged('the request was answered before it was asked about');
}

/**
 * Asks until it is acknowledged or the call ends, as a gateway does. @returns how long
 * that Cancel took
 */
async function cancelCall(
  { client, kind }: CheckContext,
  call: CheckedCall<unknown>,
): Promise<number | undefined> {
  const startedAtMs = performance.now();
  while (!call.hasEnded) {
    const end = await client.cancel(kind, call.id);
    demand(end.code === status.OK, `Cancel of a running request failed with ${end.text}`);
    if (end.messages[0]?.acknowledged) return end.ms;
    demand(
      performance.now() - startedAtMs < KNOWN_WITHIN_MS,
      'Cancel does not know a request that runs: acknowledged is false for 1 s',
    );
    await pause(5);
  }
  return undefined;
}

/** @returns true for a late answer, which is accepted */
async function judgeEnd(call: CheckedCall<unknown>) {
  // The rest of an upload is not sent after a cancel.
  call.complete();
  const end = await endOf(call, 'the end of a cancelled call', 'fail', 10_000);
  const { code = end.code === status.CANCELLED ? 'request_cancelled' : undefined } = end.trailers;
  demand(
    end.code === status.OK || code === 'request_cancelled',
    `a cancelled call ended with ${end.text}, not with request_cancelled`,
  );
  return end.code === status.OK;
}
