import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { DeviceSwaps } from '../../../src/gateway/devices/device-swaps.js';
import { type DeviceSpec, type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { formOf } from '../../support/form-of.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { builtLaunch, GatewayRig, until } from '../api/gateway-rig.js';

const GIB = 2 ** 30;
const device = (id: string, memory: number) => ({ id, memory, reserve: 0 });
const undeclared = (id: string, ...devices: DeviceSpec[]): ModelSpec =>
  syntheticModel(
    { loadMs: 200 },
    { id, device: devices.length > 0 ? devices : [device('ram', 4 * GIB)] },
  );
const ask = async (rig: GatewayRig, model: string) =>
  rig.post('/v1/audio/transcriptions', formOf({ model }, 'a'));

describe('memory of models on devices', () => {
  it('of unknown size: has the device to itself at its first load, is measured, and is remembered', async () => {
    const folder = temporaryFolder();
    const start = () =>
      GatewayRig.start({
        models: [undeclared('a'), undeclared('b')],
        launch: builtLaunch,
        settings: { 'data.dir': folder },
      });
    const rig = await start();
    const { placements } = rig.app.get(DeviceSwaps, { strict: false });
    const sizes = () => placements.models().map(({ memory }) => memory);
    expect(sizes()).toEqual([4 * GIB, 4 * GIB]);
    expect((await ask(rig, 'a')).status).toBe(200);
    const [a] = sizes();
    expect(a).toBeGreaterThan(20 * 2 ** 20);
    expect(a).toBeLessThan(GIB);
    expect((await ask(rig, 'b')).status).toBe(200);
    expect(placements.used('ram')).toBeLessThan(2 * GIB);
    await rig.close();
    const file = JSON.parse(readFileSync(join(folder, 'model-memory.json'), 'utf8')) as object;
    expect(Object.keys(file).sort()).toEqual(['a', 'b']);
    const again = await start();
    const { placements: later } = again.app.get(DeviceSwaps, { strict: false });
    expect(later.models().map(({ memory }) => memory)).toEqual(Object.values(file));
    await again.close();
  });

  it('of unknown size: is loaded alone on the device with most room, and pinned models keep theirs', async () => {
    const [small, large] = [device('small', 2 * GIB), device('large', 9 * GIB)];
    const pinned = { id: 'p', device: [large], memory: 3 * GIB, pin: true };
    const models = [undeclared('a', small, large), syntheticModel({}, pinned)];
    const rig = await GatewayRig.start({ models });
    const { placements } = rig.app.get(DeviceSwaps, { strict: false });
    expect(placements.models()).toMatchObject([
      { id: 'a', devices: ['large'], memory: 6 * GIB },
      { id: 'p', devices: ['large'], memory: 3 * GIB },
    ]);
    await rig.close();
  });

  it('is free when a model is gone from the models file, or shares no device any more', async () => {
    const file = join(temporaryFolder(), 'models.yaml');
    const rig = await GatewayRig.start({
      models: ['a', 'b'].map(id => ({ ...undeclared(id), memory: GIB })),
      launch: builtLaunch,
      settings: { 'workers.models_file': file },
    });
    const { placements } = rig.app.get(DeviceSwaps, { strict: false });
    const statuses = [(await ask(rig, 'a')).status, (await ask(rig, 'b')).status];
    expect([statuses, placements.present]).toEqual([
      [200, 200],
      ['a', 'b'],
    ]);
    const entry = { kind: 'stt', engine: 'synthetic', capabilities: ['transcribe'] };
    const models = [
      { ...entry, id: 'b' },
      { ...entry, id: 'c', device: 'ram' },
    ];
    writeFileSync(file, JSON.stringify({ devices: [{ id: 'ram', memory: '4GiB' }], models }));
    expect((await rig.post('/admin/v1/models/reload', {})).status).toBe(200);
    await until(() => placements.present.length === 0);
    expect((await ask(rig, 'c')).status).toBe(200);
    await rig.close();
  });

  it('of more than its device has, as measured: the model is refused at once', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'model-memory.json'), `{ "a": ${5 * GIB} }`);
    const rig = await GatewayRig.start({
      models: [undeclared('a'), undeclared('b')],
      launch: builtLaunch,
      settings: { 'data.dir': folder },
    });
    const refused = await ask(rig, 'a');
    expect([refused.status, await refused.json()]).toEqual([
      503,
      {
        error: expect.objectContaining({
          code: 'model_load_failed',
          message: expect.stringContaining(
            'its measured memory of 5 GiB does not fit: ram has 4 GiB; declare `memory`',
          ),
        }),
      },
    ]);
    expect((await ask(rig, 'b')).status).toBe(200);
    await rig.close();
  });
});
