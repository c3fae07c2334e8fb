import { FLAG, type ValueRule, numberFrom, oneOf, TEXT, wholeNumberFrom } from '../../core/shared/schema.js';

export type SettingValue = string | number | boolean;

/** One row of the table of settings: the rule of its value, its default and one line for people. */
export interface SettingDefinition<V extends SettingValue = SettingValue> extends ValueRule {
  readonly default: V;
  /** Shown by `config:print`, `switchyard.yaml` and the README. */
  readonly help: string;
  /** From the text of an environment variable or of YAML. */
  readonly fromText: (text: string) => unknown;
}

/** The type of a definition's value. */
export type ValueOf<D> = D extends SettingDefinition<infer V> ? V : never;

export const MIB = 1_048_576;
export const GIB = 1024 * MIB;
export const DAY_MS = 86_400_000;

const numeric = (text: string): number => (text === '' ? NaN : Number(text));
const TRUTH: Readonly<Record<string, boolean>> = { true: true, false: false };
const ANY_TEXT: ValueRule = {
  allowed: 'text',
  accepts: value => typeof value === 'string',
  schema: { type: 'string' },
};

type NumberRow = (value: number, min: number, max: number, help: string) => SettingDefinition<number>;

const whole =
  (unit: string): NumberRow =>
  (value, min, max, help) => ({ ...wholeNumberFrom(min, max, unit), default: value, help, fromText: numeric });

export const count = whole('');
export const bytes = whole('bytes');
export const ms = whole('ms');
export const decimal: NumberRow = (value, min, max, help) => ({
  ...numberFrom(min, max),
  ...{ default: value, help, fromText: numeric },
});

/** A setting that is empty by default may be emptied; any other may not. */
export const text = (value: string, help: string): SettingDefinition<string> => ({
  ...(value === '' ? ANY_TEXT : TEXT),
  ...{ default: value, help, fromText: raw => raw },
});

export const flag = (value: boolean, help: string): SettingDefinition<boolean> => ({
  ...FLAG,
  ...{ default: value, help, fromText: raw => TRUTH[raw] },
});

export const choice = <const V extends readonly string[]>(
  values: V,
  value: V[number],
  help: string,
): SettingDefinition<V[number]> => ({ ...oneOf(values), default: value, help, fromText: raw => raw });

/** The value of a YAML scalar or of an environment variable; undefined if it is not allowed. */
export function settingValue(
  { accepts, fromText, choices }: SettingDefinition,
  raw: unknown,
): SettingValue | undefined {
  // YAML reads a bare `true` as a boolean although the choice is the word.
  const written = choices && typeof raw === 'boolean' ? String(raw) : raw;
  const value = typeof written === 'string' ? fromText(written.trim()) : written;
  return accepts(value) ? (value as SettingValue) : undefined;
}
