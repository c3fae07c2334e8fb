import { type SettingValue } from '../../../platform/config/setting-definition.js';
import { isSecretSetting } from '../../../platform/config/setting-source.js';
import {
  BASIC_SETTINGS,
  environmentName,
  settingDefinition,
  type SettingPath,
} from '../../../platform/config/settings.js';
import {
  anyField,
  choiceField,
  flagField,
  listAnswer,
  nullableField,
  optionalField,
  textField,
  answer,
} from '../../http/openapi/answer.js';

/** `argument`: given by the program that started this one. */
const SOURCES = ['default', 'file', 'environment', 'argument'] as const;

const SCALAR = { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] };

class SettingDto extends answer({
  name: textField({ example: 'queue.max_requests' }),
  value: nullableField(anyField<SettingValue>({ ...SCALAR, description: 'Null for a secret.' })),
  source: choiceField(SOURCES),
  origin: optionalField(
    textField({
      example: 'config/switchyard.yaml:12:3',
      description: 'File and line, or variable.',
    }),
  ),
  variable: textField({ example: 'SWITCHYARD_QUEUE_MAX_REQUESTS' }),
  default: anyField<SettingValue>(SCALAR),
  allowed: textField({ example: 'a whole number from 1 to 1000000' }),
  description: String,
  secret: flagField('It may hold a password: its value is never shown.'),
  set: flagField('It is not empty.'),
  advanced: flagField('Few people need it.'),
}) {}

export class SettingListDto extends listAnswer(SettingDto) {}

export function settingDto(name: SettingPath, value: SettingValue, origin: string): SettingDto {
  const { default: fallback, allowed, help } = settingDefinition(name);
  const secret = isSecretSetting(name);
  const source = sourceOf(origin);
  return {
    name,
    value: secret ? null : value,
    source,
    origin: source === 'default' ? undefined : origin,
    variable: environmentName(name),
    default: fallback,
    allowed,
    description: help,
    secret,
    set: value !== '',
    advanced: !BASIC_SETTINGS.includes(name),
  };
}

/** What kind of origin `default`, `FILE:LINE:COLUMN` or the name of a variable is. */
function sourceOf(origin: string): (typeof SOURCES)[number] {
  if (origin === 'argument') return origin;
  if (/:\d+:\d+$/.test(origin)) return 'file';
  return /^[A-Z][A-Z0-9_]*$/.test(origin) ? 'environment' : 'default';
}
