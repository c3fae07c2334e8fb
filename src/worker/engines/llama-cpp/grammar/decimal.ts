/** A finite decimal: `units / 10^scale`. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** As JavaScript writes the number: the shortest decimal that reads as it. */
export function decimalOf(value: number): Decimal {
  const [digits, exponent = '0'] = String(value).split('e') as [string, string?];
  const [whole, fraction = ''] = digits.split('.') as [string, string?];
  const scale = fraction.length - Number(exponent);
  const units = BigInt(whole + fraction);
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

/** `value · 10^scale`, and what is lost by that: 0 or less than one unit. */
export function unitsAt({ units, scale: own }: Decimal, scale: number): { floor: bigint; isExact: boolean } {
  if (own <= scale) return { floor: units * 10n ** BigInt(scale - own), isExact: true };
  const divisor = 10n ** BigInt(own - scale);
  const rest = units % divisor;
  return { floor: units / divisor - (rest < 0n ? 1n : 0n), isExact: rest === 0n };
}

export function isMultiple(value: Decimal, step: Decimal): boolean {
  const scale = Math.max(value.scale, step.scale);
  return unitsAt(value, scale).floor % unitsAt(step, scale).floor === 0n;
}
