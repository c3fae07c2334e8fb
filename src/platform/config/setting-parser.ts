import { allowedValues, type SettingDefinition, type SettingValue } from './setting-definition.js';

export type Parsed =
  { readonly ok: true; readonly value: SettingValue } | { readonly ok: false; readonly message: string };

/** Compiles what a file (YAML scalar) or the environment (text) says into the setting's type. */
export function parseSetting(definition: SettingDefinition, raw: unknown): Parsed {
  const value = convert(definition, typeof raw === 'string' ? raw.trim() : raw);
  return value === undefined
    ? { ok: false, message: `must be ${allowedValues(definition)} (default ${definition.default})` }
    : { ok: true, value };
}

function convert(definition: SettingDefinition, raw: unknown): SettingValue | undefined {
  switch (definition.type) {
    case 'integer':
    case 'number':
      return convertNumber(definition, raw);
    case 'boolean':
      return convertBoolean(raw);
    case 'choice':
      // YAML reads a bare `true` as a boolean although the choice is the word.
      return definition.values.find(value => value === String(raw));
    case 'text':
      return typeof raw === 'string' && (raw !== '' || definition.default === '') ? raw : undefined;
  }
}

function convertNumber({ type, min, max }: SettingDefinition & { min: number; max: number }, raw: unknown) {
  const value = typeof raw === 'number' ? raw : typeof raw === 'string' && raw !== '' ? Number(raw) : NaN;
  const fits = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  return fits && value >= min && value <= max ? value : undefined;
}

function convertBoolean(raw: unknown): boolean | undefined {
  return raw === true || raw === 'true' ? true : raw === false || raw === 'false' ? false : undefined;
}
