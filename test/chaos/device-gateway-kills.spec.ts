import { expect, it } from '@jest/globals';
import { GatewayPair } from '../integration/devices/gateway-pair.js';
import { onDevice } from '../support/device-rig.js';
import { type GatewayProcess } from '../support/gateway-process.js';
import { describeWith, REDIS } from '../support/requires.js';
import { pause } from '../support/waiting.js';

const IDS = ['a', 'b', 'c'];
/** Of three, two fit. */
const MODELS = IDS.map(id => onDevice(id));
const FIT = 2;
const DEVICE_BYTES = 10 * 2 ** 30;
const KILLS = 6;
const CALLERS = 4;
/** What a request may end with whose model is killed under it twice, or while it is loaded. */
const LOST = /"(worker_lost|model_load_failed)"/;

describeWith(REDIS)('kill -9 of gateways whose models share a device', () => {
  it('never has more on it than fits; every request ends, and all models are served afterwards', async () => {
    await using pair = await GatewayPair.start(MODELS);
    let isOver = false;
    let ledger = 0;
    const answers: Awaited<ReturnType<GatewayPair['ask']>>[] = [];
    const look = async (gateway: GatewayProcess): Promise<void> => {
      const device = await pair.device(gateway);
      if (device.loaded_by === undefined) ledger = Math.max(ledger, device.used_bytes);
    };
    const caller = async (number: number): Promise<void> => {
      for (let turn = number; !isOver; turn += 1, await pause(100)) {
        const gateway = pair.gateways[turn % 2]!;
        const priority = turn % 4 === 0 ? 'realtime' : 'batch';
        try {
          answers.push(await pair.ask(gateway, IDS[turn % 3]!, priority));
          await look(gateway);
        } catch (error) {
          if (!pair.isSilent(gateway)) throw error;
        }
      }
    };
    const callers = Array.from({ length: CALLERS }, (_, number) => caller(number));
    for (let kills = 0; kills < KILLS; kills += 1) {
      await pair.replace(kills % 2);
      // Less than a lease lasts: some are killed before they have it.
      await pause(3000);
    }
    isOver = true;
    await Promise.all(callers);
    const failed = answers.filter(({ status }) => status !== 200);
    expect(failed.filter(({ body }) => !LOST.test(body))).toEqual([]);
    expect(answers.length).toBeGreaterThan(failed.length);
    const asked = pair.gateways.flatMap(gateway => IDS.map(id => pair.ask(gateway, id)));
    expect(await Promise.all(asked)).toMatchObject(asked.map(() => ({ status: 200 })));
    for (const gateway of pair.gateways)
      for (const state of ['queued', 'running']) {
        const { body } = await gateway.call('GET', `/admin/v1/requests?state=${state}`);
        expect(JSON.parse(body.toString())).toMatchObject({ data: [] });
      }
    expect([pair.most, ledger]).toEqual([FIT, DEVICE_BYTES]);
  });
});
