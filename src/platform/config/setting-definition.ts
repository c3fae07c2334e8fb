import {
  allowedBy,
  checked,
  FLAG,
  numberFrom,
  oneOf,
  TEXT,
  wholeNumberFrom,
} from '@switchyard/engine-api/rules.js';
import type { z } from 'zod';

export type SettingValue = string | number | boolean;

/**
 * One row of the table of settings: the rule of its value, its default and one
 * line for people.
 */
export interface SettingDefinition<V extends SettingValue = SettingValue> {
  readonly rule: z.ZodType;
  readonly default: V;
  /** Shown by `config:print`, `switchyard.yaml` and the README. */
  readonly help: string;
  /** Allowed values as a noun phrase: `a number from 0 to 2`. */
  readonly allowed: string;
}

export const MIB = 1_048_576;
export const GIB = 1024 * MIB;
export const DAY_MS = 86_400_000;

const row = <V extends SettingValue>(
  rule: z.ZodType,
  value: V,
  help: string,
): SettingDefinition<V> => ({ rule, default: value, help, allowed: allowedBy(rule) });

const ANY_TEXT = checked<string>(value => typeof value === 'string', 'text', {
  type: 'string',
});

const whole =
  (unit: string) =>
  (value: number, min: number, max: number, help: string): SettingDefinition<number> =>
    row(wholeNumberFrom(min, max, unit), value, help);

export const count = whole('');
export const bytes = whole('bytes');
export const ms = whole('ms');
export const decimal = (value: number, min: number, max: number, help: string) =>
  row(numberFrom(min, max), value, help);

/** A setting that is empty by default may be emptied; any other may not. */
export const text = (value: string, help: string) =>
  row<string>(value === '' ? ANY_TEXT : TEXT, value, help);

export const flag = (value: boolean, help: string) => row<boolean>(FLAG, value, help);

export const choice = <const V extends readonly string[]>(
  values: V,
  value: V[number],
  help: string,
) => row<V[number]>(oneOf(values), value, help);
