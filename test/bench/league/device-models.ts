/**
 * The scripted device of a league: one group of at most 8 at a time, which takes groupMs
 * + n × itemMs.
 */
export const DEVICE = {
  group: 8,
  costs: {
    fixed: { groupMs: 20, itemMs: 0 },
    free: { groupMs: 0, itemMs: 0 },
    linear: { groupMs: 12, itemMs: 1 },
    slow: { groupMs: 50, itemMs: 0 },
  },
} as const;

export type DeviceModel = keyof typeof DEVICE.costs;

/** Full groups of `fixed` and of `linear` take 20 ms. */
export const IDEAL_PER_S = 400;
export const SLOW_PER_S = 160;
