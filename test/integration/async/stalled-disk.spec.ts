import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FixtureWorker } from '../../support/fixture-worker.js';
import { formOf } from '../../support/form-of.js';
import { FreezableDisk } from '../../support/freezable-disk.js';
import { describeWith } from '../../support/requires.js';
import { GatewayRig } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';

const STALL_MS = 8000;

/** Frozen with `fsfreeze`, as by a snapshot or a storage controller that does not answer. */
const FREEZABLE = {
  name: 'permission to mount',
  present: FreezableDisk.canMount(),
  ofMachine: true,
};

describeWith(FREEZABLE)('a data folder whose disk stalls', () => {
  const worker = new FixtureWorker({ model: 'stt' });
  let disk: FreezableDisk;
  let rig: GatewayRig;
  beforeAll(async () => {
    disk = FreezableDisk.mount();
    const models = [sttModel({ addresses: [`127.0.0.1:${await worker.start()}`] })];
    rig = await GatewayRig.start({ models, settings: { 'data.dir': join(disk.path, 'data') } });
    await rig.ready('stt');
  }, 60_000);
  afterAll(async () => {
    await rig.close();
    worker.stop();
    disk[Symbol.dispose]();
  });

  const ask = (headers: Record<string, string> = {}): Promise<Response> =>
    rig.post('/v1/audio/transcriptions', formOf({ model: 'stt' }), { headers });

  it('holds up what is stored and nothing else: health and plain requests are answered meanwhile', async () => {
    expect((await ask({ 'idempotency-key': 'before' })).status).toBe(200);
    await disk.freeze(STALL_MS);
    let isStored = false;
    const stored = ask({ 'idempotency-key': 'stalled' }).finally(() => (isStored = true));
    for (let round = 0; round < 20; round++) {
      expect((await fetch(`${rig.url}/health/live`)).status).toBe(200);
      expect((await ask()).status).toBe(200);
    }
    // The disk, and not the pace of this test, held the stored one up.
    expect({ isFrozen: disk.isFrozen, isStored }).toEqual({ isFrozen: true, isStored: false });
    await disk.thaw();
    expect((await stored).status).toBe(200);
    expect((await ask({ 'idempotency-key': 'stalled' })).headers.get('idempotent-replayed')).toBe(
      'true',
    );
  }, 60_000);
});
