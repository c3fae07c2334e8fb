import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DomainError } from '../../../src/core/errors/domain-error.js';
import { RequestRegistry } from '../../../src/gateway/registry/request-registry.js';
import { LEASE, opened } from '../../support/records.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { FeedClient } from './feed-client.js';

/** More than the sockets of both sides hold together. */
const FLOOD_BYTES = 48_000_000;
const WORKER_NAME = 'w'.repeat(8000);

const GONE = {
  status: 'cancelled',
  error: new DomainError('request_cancelled', 'gone'),
} as const;

let rig: GatewayRig;
beforeEach(async () => (rig = await GatewayRig.start({ models: [sttModel()] })));
afterEach(() => rig.close());

describe('a client that does not read', () => {
  it('is not buffered for: when it reads again it hears a snapshot, and ends up with the truth', async () => {
    const registry = rig.app.get(RequestRegistry, { strict: false });
    using slow = await FeedClient.connect(rig.url);
    using quick = await FeedClient.connect(rig.url);
    for (const client of [slow, quick]) await client.join('request:r');
    const record = opened(registry, 'r', { model: 'stt' });
    const lease = (): void => {
      if (record.attempts > 0) registry.requeued(record, 'worker_lost');
      registry.leased(record, { ...LEASE, workerId: WORKER_NAME }, false);
    };
    await until(() => slow.deltas.length === 1);
    const { _socket: wire } = (
      slow.socket.io.engine.transport as unknown as { ws: { _socket: Pausable } }
    ).ws;
    wire.pause();
    const rounds = Math.ceil(FLOOD_BYTES / WORKER_NAME.length);
    for (let attempt = 1; attempt <= rounds; attempt++) {
      lease();
      if (attempt % 25 === 0) await until(() => quick.request('r')?.attempts === attempt);
    }
    expect(quick.gaps).toBe(0);
    expect(quick.deltas).toHaveLength(2 * rounds);
    wire.resume();
    await until(() => slow.request('r')?.attempts === rounds);
    expect(slow.gaps).toBe(0);
    expect(slow.snapshots.length).toBeGreaterThanOrEqual(1);
    // What the network held and 64 messages: the rest was never kept.
    expect(slow.deltas.length).toBeLessThan(rounds);
    lease();
    await until(() => slow.request('r')?.attempts === rounds + 1);
    registry.settle(record, GONE);
  });
});

interface Pausable {
  pause(): void;
  resume(): void;
}
