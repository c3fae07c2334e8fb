import { describe, expect, it } from '@jest/globals';
import { aGateway, COST } from '../bench/support/simulation/device-scenes.js';
import { type TraceRequest } from '../bench/support/simulation/trace.js';

const REQUESTS = 10_000;
const SEEDS = Number(process.env.DEVICE_SEEDS ?? 1);
const LOAD_MS = 4000;
const IDS = ['a', 'b', 'c', 'd'];

function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 16807) % 2147483647) / 2147483647;
}

/** One every 40 ms, of five tenants, some of them cancelled. */
const arrivals = (random: () => number): readonly TraceRequest[] =>
  Array.from({ length: REQUESTS }, (_, index) => ({
    ...{ atMs: index * 40, model: IDS[Math.floor(random() ** 2 * 4)]! },
    priority: random() < 0.1 ? 'realtime' : 'batch',
    tenant: `t${Math.floor(random() * 5)}`,
    ...(random() < 0.1 && { cancelAfterMs: random() * 10_000 }),
  }));

/** @param killEveryMs on average: the processes of one model, whatever they are doing */
function run(seed: number, killEveryMs: number) {
  const random = numbers(seed);
  const models = Object.fromEntries(IDS.map(id => [id, { memory: 5, loadMs: LOAD_MS }]));
  const gateway = aGateway(models, {}, { cost: { ...COST, groupMs: 100 } });
  gateway.replay(arrivals(random));
  const pause = () => 2 * random() * killEveryMs;
  for (let ms = pause(); ms < REQUESTS * 40; ms += pause())
    gateway.at(ms, () => gateway.devices!.kill(IDS[Math.floor(random() * 4)]!));
  gateway.run();
  return gateway;
}

const SCENES = Array.from({ length: SEEDS }, (_, index) => 11 + index).flatMap(seed => [
  { seed, killEveryMs: Infinity },
  { seed, killEveryMs: 20_000 },
  { seed, killEveryMs: 5000 },
]);

describe(`models that share a device: ${REQUESTS} random arrivals`, () => {
  it.each(SCENES)(
    'nothing is lost, the ledger holds, nobody waits longer than a residence of each model and its own work: seed $seed, a kill every $killEveryMs ms',
    ({ seed, killEveryMs }) => {
      const gateway = run(seed, killEveryMs);
      const { devices, book, unsettled, slotsInUse } = gateway;
      const { batch, realtime } = book.settledBy;
      const sum = (status: keyof typeof batch) => batch[status] + realtime[status];
      expect(sum('completed') + sum('cancelled') + sum('failed')).toBe(REQUESTS);
      expect([unsettled, slotsInUse]).toEqual([0, 0]);
      expect(devices!.highestUse).toBeLessThanOrEqual(1);
      // Who is killed twice, or while its model is loaded, ends as failed; nobody else does.
      expect(devices!.kills > 0).toBe(killEveryMs < Infinity);
      expect(sum('failed') > 0).toBe(killEveryMs < Infinity);
      const residenceMs = 5 * LOAD_MS + LOAD_MS;
      const longestMs = Math.max(...book.answersMs.batch, ...book.answersMs.realtime);
      expect(longestMs).toBeLessThan(residenceMs * IDS.length + 1000);
    },
  );
});
