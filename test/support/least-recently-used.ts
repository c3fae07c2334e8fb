import {
  memoryOf,
  isIdle,
  type ModelAtDevice,
  type SharedDevice,
  stays,
  type Swap,
  type SwapPolicy,
} from '../../src/core/devices/swap-policy.port.js';

/**
 * What most programs do that load models by request: who comes first is loaded first, and
 * models without work leave for it, the one that was used least recently first.
 */
export class LeastRecentlyUsed implements SwapPolicy {
  plan(
    models: readonly ModelAtDevice[],
    devices: readonly SharedDevice[],
    nowMs: number,
  ): readonly Swap[] {
    const swaps: Swap[] = [];
    const gone = new Set<string>();
    const wanted = models
      .filter(({ stage, demand }) => stage === 'absent' && demand.waiting > 0)
      .sort((a, b) => a.demand.oldestMs - b.demand.oldestMs);
    for (const model of wanted) {
      const device = devices.find(({ id }) => id === model.devices[0]);
      if (!device) continue;
      const here = models.filter(
        one => one.device === device.id && stays(one) && !gone.has(one.id),
      );
      const coming = models.filter(({ id }) => swaps.some(swap => swap.model === id));
      const missing = model.memory - (device.memory - memoryOf(here) - memoryOf(coming));
      const leaving: ModelAtDevice[] = [];
      for (const one of here.sort((a, b) => a.demand.usedMs - b.demand.usedMs))
        if (isIdle(one) && !one.pin && memoryOf(leaving) < missing) leaving.push(one);
      if (memoryOf(leaving) < missing) continue;
      for (const { id } of leaving) gone.add(id);
      const ids = leaving.map(({ id }) => id);
      swaps.push({
        model: model.id,
        device: device.id,
        leaving: ids,
        atMs: nowMs,
        reason: 'waiting',
      });
    }
    return swaps;
  }
}
