import { Controller, Get, Inject } from '@nestjs/common';
import { Answers } from '../http/openapi/route.decorator.js';
import {
  anyField,
  choiceField,
  flagField,
  listView,
  nullableField,
  optionalField,
  textField,
  view,
  type ViewOf,
} from '../http/openapi/view.js';
import {
  isSecretSetting,
  SETTING_SOURCES,
  SOURCE_KINDS,
  settingSourceOf,
  type SettingSources,
} from '../../platform/config/setting-source.js';
import { type SettingValue } from '../../platform/config/setting-definition.js';
import {
  environmentName,
  settingDefinition,
  type SettingPath,
} from '../../platform/config/settings.js';

const SCALAR = { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] };

const SettingDto = view('SettingDto', {
  name: textField({ example: 'queue.max_requests' }),
  value: nullableField(
    anyField<SettingValue>({ ...SCALAR, description: 'Null for a secret.' }),
  ),
  source: choiceField(SOURCE_KINDS),
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
});

const SettingListDto = listView('SettingListDto', SettingDto);

/** The settings in effect. */
@Controller('admin/v1/settings')
export class AdminSettingsController {
  constructor(@Inject(SETTING_SOURCES) private readonly sources: SettingSources) {}

  @Get()
  @Answers(SettingListDto)
  list() {
    return {
      object: 'list',
      data: [...this.sources].map(([name, { value, origin }]) =>
        settingDto(name, value, origin),
      ),
    };
  }
}

function settingDto(
  name: SettingPath,
  value: SettingValue,
  origin: string,
): ViewOf<typeof SettingDto> {
  const { default: fallback, allowed, help } = settingDefinition(name);
  const secret = isSecretSetting(name);
  const source = settingSourceOf(origin);
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
  };
}
