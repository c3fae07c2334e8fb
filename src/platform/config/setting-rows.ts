import { type SettingDefinition } from './setting-definition.js';

/** How the rows of the table of settings are written. */
export const MIB = 1_048_576;
export const GIB = 1024 * MIB;
export const DAY_MS = 86_400_000;

type IntegerOf<U> = (value: number, min: number, max: number, help: string) => U;
type Integer = Extract<SettingDefinition, { type: 'integer' }>;

export const count: IntegerOf<Integer> = (value, min, max, help) => ({
  type: 'integer',
  default: value,
  min,
  max,
  help,
});
export const bytes: IntegerOf<Integer> = (value, min, max, help) => ({
  ...count(value, min, max, help),
  unit: 'bytes',
});
export const ms: IntegerOf<Integer> = (value, min, max, help) => ({ ...count(value, min, max, help), unit: 'ms' });
export const text = (value: string, help: string) => ({ type: 'text', default: value, help }) as const;
export const flag = (value: boolean, help: string) => ({ type: 'boolean', default: value, help }) as const;
export const choice = <const V extends readonly string[]>(values: V, value: V[number], help: string) =>
  ({ type: 'choice', default: value, values, help }) as const;
