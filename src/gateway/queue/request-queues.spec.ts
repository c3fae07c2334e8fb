import { describe, expect, it, jest } from '@jest/globals';
import { aRegistry, LEASE, opened } from '../../../test/support/records.js';
import { aRequest } from '../../../test/support/requests.js';
import { transcribe } from '../../../test/support/scheduler-harness.js';
import { ServiceTimes } from '../../core/latency/service-times.js';
import { type WorkerReply } from '../../worker-client/worker-task.js';
import { RequestQueues } from './request-queues.js';

/** Queues of which the embedded one expects 5 s of waiting. */
function queues(isIdle: boolean): RequestQueues {
  const shared = { accepts: () => false };
  const embedded = { isIdle: () => isIdle, startMs: () => 5000 };
  const parts = [
    shared,
    embedded,
    { nowMs: () => 0 },
    new ServiceTimes(),
  ] as never as ConstructorParameters<typeof RequestQueues>;
  return new RequestQueues(...parts);
}

it.each([
  [false, 'deadline_unreachable'],
  [true, undefined],
])(
  'with a worker at rest %j, a wait longer than the deadline is refused with %j',
  (isIdle, code) => {
    const deadlines = [{ until: 'answer', withinMs: 1000, leftMs: 1000 } as const];
    const request = { ...aRequest('r'), payload: transcribe() };
    expect(queues(isIdle).track(request, deadlines).refusal?.code).toBe(code);
  },
);

describe('the queues of a gateway', () => {
  const depth = {
    model: 'm',
    realtime: 1,
    batch: 2,
    running: 3,
    oldestWaitMs: 40 as number | undefined,
  };

  function both(fields: { readonly accepts?: boolean; readonly enabled?: boolean } = {}) {
    const { accepts = false, enabled = true } = fields;
    const known = { areNone: true, isIdle: true, own: [depth], shared: [depth] };
    const shared = {
      accepts: () => accepts,
      enabled,
      elsewhere: { areNone: () => known.areNone },
      isIdle: () => known.isIdle,
      depths: () => Promise.resolve(known.shared),
      startMs: () => 0,
    };
    const embedded = {
      models: [{ id: 'm' }, { id: 'n' }],
      depths: () => known.own,
      isIdle: () => false,
      startMs: jest.fn(() => 0),
    };
    const [registry, times] = [aRegistry(), new ServiceTimes()];
    const parts = [shared, embedded, registry, times];
    const queues = new RequestQueues(
      ...(parts as unknown as ConstructorParameters<typeof RequestQueues>),
    );
    return { known, shared, embedded, registry, times, queues };
  }
  const request = { ...aRequest('r'), payload: transcribe() };

  it.each([true, false])('give a request to the shared one if that takes it: %s', accepts => {
    const { queues, shared, embedded } = both({ accepts });
    const { record, refusal } = queues.track(request);
    expect([record.queue, refusal]).toEqual([accepts ? shared : embedded, undefined]);
    expect(queues.costMs(request)).toBeGreaterThan(0);
  });

  it('are idle where neither other gateways nor this one have anything', () => {
    const { known, queues } = both();
    expect(queues.isIdle('m')).toBe(true);
    known.areNone = false;
    expect(queues.isIdle('m')).toBe(false);
    Object.assign(known, { areNone: true, isIdle: false });
    expect(queues.isIdle('m')).toBe(false);
    expect(both({ enabled: false }).queues.isIdle('m')).toBe(false);
  });

  it('are counted together, with the oldest of both, and the bytes that wait here', async () => {
    const { known, queues, registry } = both();
    known.shared = [
      { ...depth, oldestWaitMs: 90 },
      { ...depth, model: 'n' },
    ];
    opened(registry, 'a', { bytes: 5 });
    opened(registry, 'b', { bytes: 7 });
    registry.leased(opened(registry, 'c', { bytes: 9 }), LEASE, false);
    expect(await queues.depths()).toEqual([
      { model: 'm', realtime: 2, batch: 4, running: 6, bytes: 12, oldestWaitMs: 90 },
    ]);
    known.own = known.shared = [{ ...depth, oldestWaitMs: undefined }];
    expect((await queues.depths())[0]?.oldestWaitMs).toBeUndefined();
    expect([...queues.waitingBytes()]).toEqual([
      ['m', 12],
      ['n', 0],
    ]);
  });

  const execution = { deviceMs: 30, batchSize: 2, readyWaitMs: 4 };
  const phases = { grpcMs: 20, readyMs: 4 };
  it.each<[string, object, object, object | undefined]>([
    ['an answer', { status: 'completed' }, phases, { costMs: 15, readyMs: 4, computeMs: 16 }],
    [
      'one sooner than its wait',
      { status: 'completed' },
      { grpcMs: 3, readyMs: 4 },
      { computeMs: 0 },
    ],
    ['a failure', { status: 'failed' }, phases, undefined],
    ['no call time', { status: 'completed' }, { readyMs: 4 }, undefined],
    ['no wait', { status: 'completed' }, { grpcMs: 4 }, undefined],
  ])('learn from %s', async (_, end, measured, learned) => {
    const { queues, times } = both();
    const observe = jest.spyOn(times.of('m').answers, 'observe');
    const { record } = queues.track(request);
    const reply = { kind: 'generation', execution, firstTokenMs: 3 } as unknown as WorkerReply;
    record.answer({ settlement: { reply, ...end }, phases: measured, attempts: 1 } as never);
    await new Promise(setImmediate);
    expect(observe.mock.calls).toEqual(
      learned ? [[expect.objectContaining({ firstOutputMs: 3, ...learned }), 5]] : [],
    );
  });
});
