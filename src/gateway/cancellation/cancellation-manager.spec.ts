import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Subject } from 'rxjs';
import { transcribe } from '../../../test/support/pool-harness.js';
import { aRegistry, LEASE, opened } from '../../../test/support/records.js';
import { aKey, aRef } from '../../../test/support/requests.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type RequestRegistry } from '../registry/request-registry.js';
import { TrackedRequest } from '../registry/tracked-request.js';
import { CancellationManager } from './cancellation-manager.js';

type Parts = ConstructorParameters<typeof CancellationManager>;
const settled = () => new Promise(setImmediate);

describe('a stop', () => {
  let nowMs: number;
  let registry: RequestRegistry;
  let events: DispatchEvent[];
  let stops$: Subject<{ key: RequestKey; reason: CancelReason }>;
  let activity$: Subject<{ type: string; model: string }>;
  const [cancel, cancelElsewhere, cancelMatching] = [jest.fn(), jest.fn(), jest.fn()];
  const unserved = jest.fn();
  let manager: CancellationManager;

  beforeEach(() => {
    nowMs = 100;
    for (const mock of [cancel, cancelElsewhere, cancelMatching, unserved]) mock.mockReset();
    cancel.mockImplementation(() => Promise.resolve((nowMs += 7)));
    cancelMatching.mockImplementation(() => Promise.resolve([aKey('far'), aKey('one')]));
    cancelElsewhere.mockImplementation(() => Promise.resolve(true));
    const bus = new DispatchEventBus();
    events = [];
    bus.events$.subscribe(event => events.push(event));
    [registry, stops$, activity$] = [aRegistry(bus), new Subject(), new Subject()];
    const error = new DomainError('request_cancelled', 'stopped');
    manager = new CancellationManager(
      registry,
      { stopped: () => ({ status: 'cancelled', error }), unserved } as unknown as Parts[1],
      { nowMs: () => nowMs },
      { activity$ } as unknown as Parts[3],
      { cancelElsewhere, cancelMatching } as unknown as Parts[4],
      { stops$ } as unknown as Parts[5],
    );
    manager.onApplicationBootstrap();
  });

  const waits = (id: string, fields: object = {}): TrackedRequest =>
    Object.assign(opened(registry, id, fields), { queue: { cancel } });

  it.each([
    ['waits', 'queued', undefined],
    ['runs', 'in_flight', 'w'],
  ])(
    'of a request that %s settles its caller at once, and then signals it',
    async (_, stage, at) => {
      const record = waits('r');
      if (at) registry.leased(record, LEASE, false);
      const stopped = manager.cancel(aRef('r'), 'client');
      expect((await record.settled).settlement.status).toBe('cancelled');
      expect(await stopped).toBe(true);
      expect(cancel.mock.calls).toEqual([[record.request, 'client', at]]);
      expect(record.view(0).cancelReason).toBe('client');
      expect(events.filter(({ type }) => type.startsWith('cancel_'))).toMatchObject([
        { type: 'cancel_requested', stage, reason: 'client' },
        { type: 'cancel_signalled', stage, latencyMs: 7 },
      ]);
      expect(cancelElsewhere).not.toHaveBeenCalled();
    },
  );

  it.each([
    ['client', true],
    ['operator', true],
    ['disconnect', false],
    ['deadline', false],
  ] as const)(
    'by %s of a request that is not here goes to other gateways: %s',
    async (reason, is) => {
      expect(await manager.cancel(aRef('r'), reason)).toBe(is);
      expect(cancelElsewhere.mock.calls).toEqual(is ? [[aRef('r'), reason]] : []);
    },
  );

  it('of a request on its way into its queue is left to that queue', async () => {
    const record = new TrackedRequest(transcribe('', undefined, 'r'), { cancel } as never);
    registry.enter(record);
    expect(await manager.cancel(aRef('r'), 'client')).toBe(true);
    expect(cancel.mock.calls).toEqual([[record.request, 'client', undefined]]);
    expect(record.settlement).toBeUndefined();
  });

  it('at the request of another gateway ends a request of this one', async () => {
    const record = waits('r');
    stops$.next({ key: aKey('r'), reason: 'operator' });
    await settled();
    expect(record.settlement?.status).toBe('cancelled');
  });

  it('of many names each once, of all gateways', async () => {
    for (const [id, model] of [
      ['one', 'm'],
      ['two', 'n'],
    ] as const)
      waits(id, { model });
    expect(await manager.cancelMany({ model: 'm' }, 'operator')).toEqual(['one', 'far']);
    expect(registry.live().map(({ id }) => id)).toEqual(['two']);
    const [matches] = cancelMatching.mock.lastCall as unknown as [(view: object) => boolean];
    expect(['m', 'n'].map(model => matches({ model }))).toEqual([true, false]);
  });

  it('of those in a state that has ended stops none', async () => {
    waits('one');
    expect(await manager.cancelMany({ state: 'completed' }, 'operator')).toEqual([]);
    expect([registry.size, cancelMatching.mock.calls]).toEqual([1, []]);
    expect(await manager.cancelMany({ state: 'queued' }, 'operator')).toHaveLength(2);
  });

  it('of all that match names those that it stopped', async () => {
    const records = ['one', 'two'].map(id => waits(id));
    const stopped = manager.cancelMatching(() => true, 'shutdown');
    expect(records.map(({ settlement }) => settlement?.status)).toEqual(['cancelled', 'cancelled']);
    expect(await stopped).toEqual([aKey('one'), aKey('two')]);
  });

  it('follows a load that failed, for what waits for a model that nothing serves', async () => {
    unserved.mockImplementation(record =>
      (record as TrackedRequest).id === 'served' ? undefined : new Error('failed'),
    );
    for (const id of ['one', 'served', 'runs']) waits(id);
    waits('other', { model: 'n' });
    registry.leased(registry.get(aKey('runs'))!, LEASE, false);
    activity$.next({ type: 'restarted', model: 'm' });
    await settled();
    expect(registry.size).toBe(4);
    activity$.next({ type: 'load_failed', model: 'm' });
    expect(registry.size).toBe(4);
    await settled();
    expect(registry.live().map(({ id }) => id)).toEqual(['served', 'runs', 'other']);
  });
});
