export interface BackOff {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Doubles from `firstMs` to `mostMs`, less up to a half by chance: many that failed together do not come back together. */
export function backOffMs(attempt: number, { firstMs, mostMs }: BackOff, random: () => number = Math.random): number {
  const fullMs = Math.min(mostMs, firstMs * 2 ** Math.min(30, Math.max(0, attempt - 1)));
  return fullMs * (1 - random() / 2);
}
