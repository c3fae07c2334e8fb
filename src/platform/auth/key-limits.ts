import { LIMIT_NAMES, type LimitName, type Limits } from '../../core/limits/limit-rules.js';

/** As the keys file and the command spell them: `requests_per_minute`. */
export const KEY_LIMITS: readonly string[] = LIMIT_NAMES.map(name => snakeCase(name));

/** `limits` of one key; 0: none of this kind, whatever `limits.*` says. */
export type KeyLimits = Readonly<Record<string, number>>;

export const limitsFrom = (limits: KeyLimits): Partial<Limits> =>
  Object.fromEntries(
    LIMIT_NAMES.flatMap((name): [LimitName, number][] => {
      const value = limits[snakeCase(name)];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** An object of known limits, each a whole number from 0 (none) to 1e9. */
export function isKeyLimits(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([name, limit]) => KEY_LIMITS.includes(name) && Number.isInteger(limit) && limit >= 0 && limit <= 1e9,
  );
}

/** `requests_per_minute=60`, from a command line. Undefined: not of that form. */
export function keyLimit(text: string): KeyLimits | undefined {
  const [name = '', digits = ''] = text.split('=', 2);
  const limits = { [name]: Number(digits) };
  return /^\d+$/.test(digits) && isKeyLimits(limits) ? limits : undefined;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}
