import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { DeviceSwaps } from '../../../src/gateway/devices/device-swaps.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { builtLaunch, GatewayRig } from '../api/gateway-rig.js';

const GIB = 2 ** 30;
const undeclared = (id: string): ModelSpec =>
  syntheticModel({ loadMs: 200 }, { id, device: [{ id: 'ram', memory: 4 * GIB, reserve: 0 }] });

describe('a model that declares no memory', () => {
  it('has the device to itself at its first load, is measured, and is remembered', async () => {
    const folder = temporaryFolder();
    const start = () =>
      GatewayRig.start({
        models: [undeclared('a'), undeclared('b')],
        launch: builtLaunch,
        settings: { 'data.dir': folder },
      });
    const ask = async (rig: GatewayRig, model: string) => {
      const form = new FormData();
      form.set('file', new Blob(['a']), 'a.wav');
      form.set('model', model);
      return (await rig.post('/v1/audio/transcriptions', form)).status;
    };
    const rig = await start();
    const { placements } = rig.app.get(DeviceSwaps, { strict: false });
    const sizes = () => placements.models().map(({ memory }) => memory);
    expect(sizes()).toEqual([4 * GIB, 4 * GIB]);
    expect(await ask(rig, 'a')).toBe(200);
    const [a] = sizes();
    expect(a).toBeGreaterThan(20 * 2 ** 20);
    expect(a).toBeLessThan(GIB);
    expect(await ask(rig, 'b')).toBe(200);
    expect(placements.used('ram')).toBeLessThan(2 * GIB);
    await rig.close();
    const file = JSON.parse(readFileSync(join(folder, 'model-memory.json'), 'utf8')) as object;
    expect(Object.keys(file).sort()).toEqual(['a', 'b']);
    const again = await start();
    const { placements: later } = again.app.get(DeviceSwaps, { strict: false });
    expect(later.models().map(({ memory }) => memory)).toEqual(Object.values(file));
    await again.close();
  });
});
