import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { DeviceRig, DEVICES, LOAD_MS, onDevice } from '../support/device-rig.js';
import { formOf } from '../support/form-of.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';

const IDS = ['a', 'b', 'c'];
/** Of three, two fit. */
const MODELS = IDS.map(id => onDevice(id));
const FIT = 2;
const KILLS = 10;
const CALLERS = 6;
/** What a request may end with whose model is killed under it twice, or while it is loaded. */
const LOST = /"(worker_lost|model_load_failed)"/;

describe('kill -9 of processes of models that share a device', () => {
  it('never has more of them than fit, answers every request, and serves all models afterwards', async () => {
    await using rig = await DeviceRig.start(MODELS, DEVICES, { 'workers.restart_max_ms': 500 });
    let isOver = false;
    const answers: Awaited<ReturnType<DeviceRig['ask']>>[] = [];
    const caller = async (number: number): Promise<void> => {
      for (let turn = number; !isOver; turn += 1) {
        answers.push(await rig.ask(IDS[turn % 3]!, turn % 4 === 0 ? 'realtime' : 'batch'));
        await pause(100);
      }
    };
    const callers = Array.from({ length: CALLERS }, (_, number) => caller(number));
    for (let kills = 0; kills < KILLS; await pause(LOAD_MS)) {
      const pid = rig.alive[kills % FIT];
      if (pid === undefined) continue;
      process.kill(pid, 'SIGKILL');
      kills += 1;
    }
    isOver = true;
    await Promise.all(callers);
    const failed = answers.filter(({ status }) => status !== 200);
    expect(failed.filter(({ body }) => !LOST.test(body))).toEqual([]);
    expect(answers.length).toBeGreaterThan(failed.length);
    await rig.product.until('every model is served', async () => {
      const now = await Promise.all(IDS.map(id => rig.ask(id)));
      return now.every(({ status }) => status === 200);
    });
    const open = async (state: string) =>
      (await rig.product.json<{ data: object[] }>(`/admin/v1/requests?state=${state}`)).data;
    expect([await open('queued'), await open('running')]).toEqual([[], []]);
    expect(rig.most(...IDS)).toBe(FIT);
  });

  it('the gateway: those of the one before have ended when the next one loads models', async () => {
    await using rig = await DeviceRig.start(MODELS);
    await Promise.all([rig.ask('a'), rig.ask('b')]);
    const before = rig.alive;
    expect(before).toHaveLength(FIT);
    const { child } = rig.product.gateway.process;
    child.kill('SIGKILL');
    await once(child, 'exit');
    await using next = await GatewayProcess.start(
      MODELS,
      {},
      { folder: temporaryFolder(), devices: DEVICES },
    );
    const form = formOf({ model: 'c' }, 'c', 'c.wav');
    const url = `http://127.0.0.1:${next.port}`;
    const answer = fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body: form });
    for (let isLoading = false; !isLoading; await pause(5)) {
      const response = await fetch(`${url}/admin/v1/workers`);
      const { data } = (await response.json()) as { data: { pid?: number }[] };
      isLoading = data.some(({ pid }) => pid !== undefined);
    }
    expect(before.filter(pid => isAlive(pid))).toEqual([]);
    expect(await (await answer).json()).toMatchObject({ text: expect.stringContaining('1 bytes') });
  });
});
