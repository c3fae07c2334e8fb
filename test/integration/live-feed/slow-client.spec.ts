import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type DispatchEvent } from '../../../src/core/dispatch/dispatch-event.js';
import { DispatchEventBus } from '../../../src/platform/events/events.module.js';
import { aKey } from '../../support/requests.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { FeedClient } from './feed-client.js';

/** More than the sockets of both sides hold together. */
const FLOOD_BYTES = 48_000_000;
const WORKER_NAME = 'w'.repeat(8000);

let rig: GatewayRig;
beforeEach(async () => (rig = await GatewayRig.start({ models: [sttModel()] })));
afterEach(() => rig.close());

const base = { key: aKey('r'), requestId: 'r', model: 'stt', priority: 'batch', atMs: 0 } as const;
const leased = (attempt: number): DispatchEvent => ({
  ...{ ...base, type: 'leased', workerId: WORKER_NAME, groupId: 'g', groupSize: 1, reason: 'single', attempt },
  ...{ queueWaitMs: 1, batchWaitMs: 0 },
});

describe('a client that does not read', () => {
  it('is not buffered for: when it reads again it hears a snapshot, and ends up with the truth', async () => {
    const bus = rig.app.get(DispatchEventBus);
    using slow = await FeedClient.connect(rig.url);
    using quick = await FeedClient.connect(rig.url);
    for (const client of [slow, quick]) await client.join('request:r');
    bus.emit({ ...base, type: 'accepted', bytes: 1 });
    await until(() => slow.deltas.length === 1);
    const { _socket: wire } = (slow.socket.io.engine.transport as unknown as { ws: { _socket: Pausable } }).ws;
    wire.pause();
    const rounds = Math.ceil(FLOOD_BYTES / WORKER_NAME.length);
    for (let attempt = 1; attempt <= rounds; attempt++) {
      bus.emit(leased(attempt));
      if (attempt % 50 === 0) await until(() => quick.request('r')?.attempts === attempt);
    }
    expect(quick.gaps).toBe(0);
    expect(quick.deltas).toHaveLength(rounds + 1);
    wire.resume();
    await until(() => slow.request('r')?.attempts === rounds);
    expect(slow.gaps).toBe(0);
    expect(slow.snapshots.length).toBeGreaterThanOrEqual(1);
    // What the network held and 64 messages: the rest was never kept.
    expect(slow.deltas.length).toBeLessThan(rounds / 2);
    bus.emit(leased(rounds + 1));
    await until(() => slow.request('r')?.attempts === rounds + 1);
  });
});

interface Pausable {
  pause(): void;
  resume(): void;
}
