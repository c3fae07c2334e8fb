import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { aRegistry, LEASE, opened } from '../../../test/support/records.js';
import { aRequest } from '../../../test/support/requests.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type ActiveTimeout } from '../../platform/process/active-timeout.js';
import { type WorkerReply } from '../../worker-client/worker-task.js';
import { type RequestRegistry } from '../registry/request-registry.js';
import { type TrackedRequest } from '../registry/tracked-request.js';
import { InferenceService, silenceTimeout } from './inference.service.js';

describe('SilenceWatch', () => {
  let silences: number;
  let excused: boolean;
  let watch: ActiveTimeout;

  beforeEach(() => {
    jest.useFakeTimers();
    [silences, excused] = [0, false];
    watch = silenceTimeout(
      100,
      () => (silences += 1),
      () => excused,
    );
  });
  afterEach(() => {
    watch.stop();
    jest.useRealTimers();
  });

  it('starts with the first output: before it, there is no limit', () => {
    jest.advanceTimersByTime(1000);
    expect(silences).toBe(0);
    watch.restart();
    jest.advanceTimersByTime(101);
    expect(silences).toBe(1);
  });

  it('starts anew with each output, and ends with stop', () => {
    for (let i = 0; i < 5; i++) {
      watch.restart();
      jest.advanceTimersByTime(99);
    }
    watch.stop();
    jest.advanceTimersByTime(1000);
    expect(silences).toBe(0);
  });

  it('starts anew with an output that arrives between the end of the limit and its report', () => {
    watch.restart();
    // The limit is over; what has arrived by then is read before that is reported.
    jest.advanceTimersByTime(100);
    watch.restart();
    jest.advanceTimersByTime(99);
    expect(silences).toBe(0);
    jest.advanceTimersByTime(2);
    expect(silences).toBe(1);
  });

  it('of 100 ms is not over for an event loop that was held for 400 ms', async () => {
    jest.useRealTimers();
    watch.restart();
    for (const endMs = performance.now() + 400; performance.now() < endMs;);
    for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve));
    expect(silences).toBe(0);
  });

  it('waits on while the silence is excused', () => {
    watch.restart();
    excused = true;
    jest.advanceTimersByTime(450);
    expect(silences).toBe(0);
    excused = false;
    jest.advanceTimersByTime(101);
    expect(silences).toBe(1);
  });
});

describe('a request that is run', () => {
  const turned = () => new Promise(setImmediate);
  const GONE = { status: 'cancelled', error: new DomainError('request_cancelled', '') } as const;
  const answer = (fields: object = {}) => ({
    status: 'completed' as const,
    reply: {
      kind: 'generation',
      execution: { readyWaitMs: 4, batchSize: 1, deviceMs: 1 },
      ...fields,
    } as unknown as WorkerReply,
  });
  let nowMs: number;
  let registry: RequestRegistry;
  let record: TrackedRequest;
  const [submit, cancel, firstOutput, nextOutput, settled] = [
    jest.fn(),
    jest.fn(),
    jest.fn(),
    jest.fn(),
    jest.fn(),
  ];
  let service: InferenceService;

  beforeEach(() => {
    for (const mock of [submit, cancel, firstOutput, nextOutput, settled]) mock.mockReset();
    [nowMs, registry] = [100, aRegistry()];
    record = opened(registry, 'r', { enqueuedAtMs: 2 });
    submit.mockReturnValue(record);
    const parts = [{ submit }, { cancel }, { firstOutput, nextOutput, settled }];
    service = new InferenceService(
      ...([...parts, { nowMs: () => nowMs }, {}] as unknown as ConstructorParameters<
        typeof InferenceService
      >),
    );
  });
  afterEach(() => void jest.useRealTimers());

  const reply = () => {
    const raw = Object.assign(new EventEmitter(), { writableFinished: false });
    return { raw, request: { headers: {} } };
  };
  const output = () => {
    const started = Promise.withResolvers<void>();
    return {
      writableNeedDrain: false,
      fail: jest.fn(),
      begin: started.resolve,
      onOutput: undefined as (() => void) | undefined,
      started: started.promise,
    };
  };
  const start = (caller: object = {}, options: object = {}) =>
    service.start({ id: 'r', tenant: 't', ...caller } as never, { model: 'm' } as never, options);
  const end = async (settlement: Parameters<RequestRegistry['settle']>[1]): Promise<void> => {
    registry.settle(record, settlement);
    await turned();
  };

  it('is submitted with the terms of its key and what is left of its deadlines', () => {
    const deadlines = [{ until: 'answer', withinMs: 9 }];
    start({ terms: { key: 'k' }, deadlines });
    expect(submit.mock.lastCall).toEqual([{ id: 'r', tenant: 't', model: 'm', keyId: 'k' }]);
    start({ reply: reply() });
    expect(submit.mock.lastCall).toEqual([{ id: 'r', tenant: 't', model: 'm' }]);
    const timed = Object.assign(reply(), { elapsedTime: 2 });
    start({ reply: timed, deadlines });
    expect(submit.mock.lastCall).toMatchObject([{ deadlines: [{ until: 'answer', withinMs: 9 }] }]);
  });

  it('of a model that its key may not use is not submitted', () => {
    expect(() => start({ terms: { key: 'k', models: ['other'] } })).toThrow(
      expect.objectContaining({ code: 'model_not_found' }),
    );
    expect(submit).not.toHaveBeenCalled();
  });

  it('is cancelled when its caller leaves before it has ended, and by its caller', async () => {
    const caller = reply();
    const request = start({ reply: caller });
    caller.raw.emit('close');
    request.cancel('client');
    expect(cancel.mock.calls).toEqual([
      [record, 'disconnect'],
      [record, 'client'],
    ]);
    await end(GONE);
    const later = reply();
    start({ reply: later });
    await turned();
    expect(later.raw.listenerCount('close')).toBe(0);
  });

  it('tells metrics of its output, but not of gaps of a caller that reads slowly', async () => {
    const out = output();
    start({}, { output: out });
    out.onOutput?.();
    nowMs = 130;
    out.onOutput?.();
    [nowMs, out.writableNeedDrain] = [190, true];
    out.onOutput?.();
    expect([firstOutput.mock.calls, nextOutput.mock.calls]).toEqual([
      [[record, 98]],
      [[record, 30]],
    ]);
    await end(answer({ firstTokenMs: 3 }));
    expect([firstOutput.mock.calls.length, out.fail.mock.calls]).toEqual([1, []]);
    expect(settled.mock.calls).toEqual([[record, record.settlement, 188]]);
  });

  it('whose answer is whole has its first token told by its engine', async () => {
    start();
    registry.leased(record, LEASE, false);
    await end(answer({ firstTokenMs: 3 }));
    expect(firstOutput.mock.calls).toEqual([[record, 3 + 4 + 3]]);
  });

  it.each([
    ['its engine does not tell', answer()],
    ['it is no text', answer({ kind: 'speech', firstTokenMs: 3 })],
    ['it failed', GONE],
  ])('tells no first token where %s', async (_, settlement) => {
    const out = output();
    start({}, { output: out });
    await end(settlement);
    expect([firstOutput.mock.calls, settled.mock.calls.length]).toEqual([[], 1]);
    expect(out.fail.mock.calls).toEqual(settlement === GONE ? [[GONE.error]] : []);
  });

  it('is cancelled when its output stops for too long, until it has ended', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const passes = async (ms: number): Promise<void> => {
      jest.advanceTimersByTime(ms);
      await turned();
    };
    const out = output();
    start({}, { output: out, idleMs: 50 });
    await passes(500);
    expect(cancel).not.toHaveBeenCalled();
    out.onOutput?.();
    out.writableNeedDrain = true;
    await passes(60);
    expect(cancel).not.toHaveBeenCalled();
    out.writableNeedDrain = false;
    await passes(60);
    expect(cancel.mock.calls).toEqual([[record, 'silence']]);
    out.onOutput?.();
    await end(GONE);
    await passes(500);
    expect(cancel).toHaveBeenCalledTimes(1);
    start({}, { output: output() });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is answered whole, with its times, or fails', async () => {
    const request = start();
    await end(answer({ firstTokenMs: 3 }));
    const { reply: whole, timings } = await request.answer('generation');
    expect([whole.kind, timings.ttftMs]).toEqual(['generation', 7]);
    await expect(request.answer('speech')).rejects.toThrow('generation instead of speech');
    record = opened(registry, 's');
    submit.mockReturnValue(record);
    const failed = start();
    await end(GONE);
    await expect(failed.answer('generation')).rejects.toBe(GONE.error);
  });

  it('tells when its answer begins, or that it ended without', async () => {
    const out = output();
    const request = start({}, { output: out });
    out.onOutput?.();
    out.begin();
    expect(await request.firstOutput()).toMatchObject({ firstOutputMs: 98 });
    record = opened(registry, 's', aRequest('s'));
    submit.mockReturnValue(record);
    const whole = start();
    await end(answer({ firstTokenMs: 3 }));
    expect((await whole.firstOutput()).firstOutputMs).toBe(7);
    record = opened(registry, 'u');
    submit.mockReturnValue(record);
    const failed = start({}, { output: output() });
    await end(GONE);
    await expect(failed.firstOutput()).rejects.toBe(GONE.error);
  });
});
