import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { encodePlan, Plan } from '../../core/jobs/plan-entry.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { JobProgress } from '../job/job-progress.js';
import { LineDispatcher, type SendingJob } from './line-dispatcher.js';
import { LineLane, type LineTicket } from './line-lane.js';
import { TargetGate } from './target-gate.js';

const plan = (lines: number, length = 10): Plan =>
  new Plan(
    encodePlan(
      Array.from({ length: lines }, (_, index) => ({ offset: index, length, prefixHash: 0 })),
    ),
  );

const PAUSES = { firstMs: 10, longestMs: 100 };

interface Sent {
  readonly key: string;
  readonly ticket: LineTicket;
  finish(): void;
}

const MIB = 1024 * 1024;

/** Jobs whose lines are in flight until the test finishes them. */
function harness(concurrency = 100) {
  const dispatcher = new LineDispatcher(settingsFrom({ 'batch.concurrency': concurrency }));
  const sent: Sent[] = [];
  const gates = new Map<string, TargetGate>();
  const job = (
    id: string,
    lines: Record<string, number>,
    options: { tenant?: string; length?: number; perModel?: number; device?: boolean } = {},
  ) => {
    const lanes = Object.entries(lines).map(([model, count]) => {
      const gate = gates.get(model) ?? new TargetGate(options.perModel ?? 10, PAUSES);
      gates.set(model, gate);
      const models = { model, first: 0, plan: plan(count, options.length) };
      return new LineLane(id, options.tenant ?? 't', models, gate, new JobProgress(count));
    });
    if (options.device) for (const [at, lane] of lanes.entries()) lane.goAfter(lanes.slice(0, at));
    const sending: SendingJob = {
      lanes,
      maySend: true,
      weight: 1,
      send: (lane, ticket) =>
        new Promise<void>(finish => sent.push({ key: lane.key, ticket, finish })),
    };
    dispatcher.add(sending);
    return sending;
  };
  return { dispatcher, sent, job, gates };
}

const settled = () => new Promise(next => setImmediate(next));

describe('LineDispatcher', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('sends up to the limit of a model, and to the process-wide limit over all', () => {
    const { sent, job } = harness(25);
    job('a', { m1: 50, m2: 50, m3: 50 });
    expect(sent).toHaveLength(25);
    for (const model of ['m1', 'm2', 'm3'])
      expect(sent.filter(({ key }) => key.endsWith(model)).length).toBeLessThanOrEqual(10);
  });

  it('sends the next line when one is through, in the order of the plan', async () => {
    const { sent, job } = harness();
    job('a', { m: 12 });
    expect(sent).toHaveLength(10);
    sent[3]!.finish();
    await settled();
    expect(sent.map(({ ticket }) => ticket.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('gives two tenants the same, however many batches one of them has', async () => {
    const { sent, job } = harness(1);
    for (const id of ['a1', 'a2', 'a3']) job(id, { m: 40 }, { tenant: 'a' });
    job('b1', { m: 40 }, { tenant: 'b' });
    for (let turn = 0; turn < 40; turn++) {
      sent.at(-1)!.finish();
      await settled();
    }
    const of = (tenant: string) => sent.filter(({ key }) => key.startsWith(tenant)).length;
    expect(Math.abs(of('a') - of('b'))).toBeLessThanOrEqual(2);
  });

  it('holds lines back when those in flight are too many bytes; one larger than the limit goes alone', async () => {
    const { sent, job } = harness();
    job('small', { m: 5 }, { length: 25 * MIB });
    expect(sent).toHaveLength(2);
    for (const { finish } of sent) finish();
    await settled();
    expect(sent).toHaveLength(4);
    const other = harness();
    other.job('large', { m: 2 }, { length: 65 * MIB });
    expect(other.sent).toHaveLength(1);
  });

  it('lets a line that rests go before new ones when it is due; it holds no slot meanwhile', async () => {
    const { dispatcher, sent, job } = harness();
    const { lanes } = job('a', { m: 11 }, { perModel: 1 });
    lanes[0]!.retryAt(sent[0]!.ticket, performance.now() - 1);
    sent[0]!.finish();
    await settled();
    expect(sent.map(({ ticket }) => ticket.index)).toEqual([0, 0]);
    dispatcher.onApplicationShutdown();
  });

  it('leaves a model alone whose target asked to wait, and no other', () => {
    const { dispatcher, sent, job, gates } = harness();
    gates.set('busy', new TargetGate(10, PAUSES));
    gates.get('busy')!.overloaded(performance.now(), 60_000);
    job('a', { busy: 3, idle: 3 });
    expect(sent.map(({ key }) => key)).toEqual(['a\nidle', 'a\nidle', 'a\nidle']);
    dispatcher.onApplicationShutdown();
  });

  it('sends the lines of models that share a device model by model, those of another job beside them', async () => {
    const { sent, job } = harness(4);
    job('a', { m1: 5, m2: 3 }, { device: true });
    job('b', { m2: 2 });
    const keys = () => sent.map(({ key }) => key.replace('\n', ' '));
    for (let done = 0; done < 10; done++) {
      sent[done]!.finish();
      await settled();
    }
    expect(keys().indexOf('b m2')).toBeLessThan(keys().indexOf('a m2'));
    expect(keys().filter(key => key.startsWith('a'))).toEqual([
      ...['a m1', 'a m1', 'a m1', 'a m1', 'a m1', 'a m2', 'a m2', 'a m2'],
    ]);
  });

  it('sends those of the next model while the target refuses those of the first', () => {
    const { dispatcher, sent, job, gates } = harness();
    gates.set('busy', new TargetGate(10, PAUSES));
    gates.get('busy')!.overloaded(performance.now(), 60_000);
    job('a', { busy: 3, idle: 3 }, { device: true });
    expect(sent.map(({ key }) => key)).toEqual(['a\nidle', 'a\nidle', 'a\nidle']);
    dispatcher.onApplicationShutdown();
  });

  it('sends nothing more of a job that was removed', async () => {
    const { dispatcher, sent, job } = harness();
    const removed = job('a', { m: 20 });
    dispatcher.remove(removed);
    sent[0]!.finish();
    await settled();
    expect(sent).toHaveLength(10);
  });

  it('counts the lines in flight, of which those that ended are none', async () => {
    const { dispatcher, sent, job } = harness(3);
    job('a', { m: 4 });
    expect(dispatcher.inFlight).toBe(3);
    for (const { finish } of sent) finish();
    await settled();
    expect([dispatcher.inFlight, sent.length]).toEqual([1, 4]);
    sent[3]!.finish();
    await settled();
    expect(dispatcher.inFlight).toBe(0);
  });

  it('sends lines up to the limit of bytes exactly, and as many once they have ended', async () => {
    const { sent, job } = harness();
    job('a', { m: 6 }, { length: 32 * MIB });
    expect(sent).toHaveLength(2);
    sent[0]!.finish();
    await settled();
    expect(sent).toHaveLength(3);
    for (const { finish } of sent) finish();
    await settled();
    expect(sent).toHaveLength(5);
  });

  it('sends nothing of a job that may not, nor waits for it, until it may', () => {
    jest.useFakeTimers();
    const { dispatcher, sent, job } = harness();
    const held = job('a', { m: 1 });
    expect(sent).toHaveLength(1);
    const { lanes } = held;
    const waiting = { lanes, maySend: false, weight: 1, send: held.send };
    dispatcher.remove(held);
    lanes[0]!.retryAt(sent[0]!.ticket, performance.now() + 10);
    dispatcher.add(waiting);
    expect(jest.getTimerCount()).toBe(0);
    jest.advanceTimersByTime(20);
    dispatcher.pump();
    expect(sent).toHaveLength(1);
    waiting.maySend = true;
    dispatcher.pump();
    expect(sent).toHaveLength(2);
  });

  it('wakes when the first line is due, and not after its end', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const { dispatcher, sent, job } = harness();
    const { lanes } = job('a', { m1: 1, m2: 1, m3: 1 });
    const startMs = performance.now();
    for (const [at, waitMs] of [60, 30, 90].entries()) {
      lanes[at]!.retryAt(sent[at]!.ticket, startMs + waitMs);
      sent[at]!.finish();
    }
    await settled();
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(25);
    expect(sent).toHaveLength(3);
    // Rounding may cost a few milliseconds.
    jest.advanceTimersByTime(10);
    expect(sent[3]!.key).toBe('a\nm2');
    jest.advanceTimersByTime(30);
    expect(sent[4]!.key).toBe('a\nm1');
    dispatcher.onApplicationShutdown();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('gives the more urgent of two jobs more turns, by the weight that it has now', async () => {
    const { dispatcher, sent, job } = harness(1);
    const [a] = [job('a', { m: 90 }), job('b', { m: 90 })];
    const turns = async () => {
      const from = sent.length;
      for (let turn = 0; turn < 40; turn++) {
        sent.at(-1)!.finish();
        await settled();
      }
      return sent.slice(from).filter(({ key }) => key.startsWith('a')).length;
    };
    expect(Math.abs((await turns()) - 20)).toBeLessThanOrEqual(2);
    dispatcher.updateWeight({ ...a, weight: 3 });
    expect(Math.abs((await turns()) - 30)).toBeLessThanOrEqual(2);
  });

  it('gives no turns to a job that was removed, whatever its weight becomes', async () => {
    const { dispatcher, sent, job } = harness(1);
    const removed = job('a', { m: 5 });
    dispatcher.remove(removed);
    dispatcher.updateWeight(removed);
    sent[0]!.finish();
    await settled();
    expect(sent).toHaveLength(1);
  });

  it('sends one line at a time though others are sent within', () => {
    const dispatcher = new LineDispatcher(settingsFrom({ 'batch.concurrency': 3 }));
    const gate = new TargetGate(10, PAUSES);
    const lines = { model: 'm', first: 0, plan: plan(5) };
    const sent: number[] = [];
    dispatcher.add({
      lanes: [new LineLane('a', 't', lines, gate, new JobProgress(5))],
      ...{ maySend: true, weight: 1 },
      send: (_, { index }) => {
        dispatcher.pump();
        sent.push(index);
        return new Promise(() => undefined);
      },
    });
    expect(sent).toEqual([0, 1, 2]);
  });
});
