import { Controller, Get, Inject } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import {
  SETTING_SOURCES,
  SOURCE_KINDS,
  settingSourceOf,
  type SettingSources,
  type SourceKind,
} from '../../platform/config/effective-settings.js';
import { isSecretSetting } from '../../platform/config/effective-settings.js';
import { type SettingValue } from '../../platform/config/setting-definition.js';
import { environmentName, settingDefinition, type SettingPath } from '../../platform/config/settings.js';

const SCALAR = { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] };

export class SettingDto {
  @ApiProperty({ example: 'queue.max_requests' }) name!: string;
  @ApiProperty({ ...SCALAR, nullable: true, description: 'Null for a secret.' }) value!: SettingValue | null;
  @ApiProperty({ enum: SOURCE_KINDS }) source!: SourceKind;
  @ApiPropertyOptional({ example: 'config/switchyard.yaml:12:3', description: 'File and line, or variable.' })
  origin?: string;
  @ApiProperty({ example: 'SWITCHYARD_QUEUE_MAX_REQUESTS' }) variable!: string;
  @ApiProperty(SCALAR) default!: SettingValue;
  @ApiProperty({ example: 'a whole number from 1 to 1000000' }) allowed!: string;
  @ApiProperty() description!: string;
  @ApiProperty({ description: 'It may hold a password: its value is never shown.' }) secret!: boolean;
  @ApiProperty({ description: 'It is not empty.' }) set!: boolean;
}

export class SettingListDto {
  @ApiProperty({ enum: ['list'] }) object!: 'list';
  @ApiProperty({ type: [SettingDto] }) data!: SettingDto[];
}

/** The settings in effect. */
@ApiTags('admin')
@Controller('admin/v1/settings')
export class AdminSettingsController {
  constructor(@Inject(SETTING_SOURCES) private readonly sources: SettingSources) {}

  @Get()
  @ApiOperation({ summary: 'Effective settings and where each came from' })
  @ApiOkResponse({ type: SettingListDto })
  list(): SettingListDto {
    return {
      object: 'list',
      data: [...this.sources].map(([name, { value, origin }]) => settingDto(name, value, origin)),
    };
  }
}

function settingDto(name: SettingPath, value: SettingValue, origin: string): SettingDto {
  const { default: fallback, allowed, help } = settingDefinition(name);
  const [secret, source] = [isSecretSetting(name), settingSourceOf(origin)];
  return {
    name,
    value: secret ? null : value,
    source,
    ...(source !== 'default' && { origin }),
    variable: environmentName(name),
    default: fallback,
    allowed,
    description: help,
    secret,
    set: value !== '',
  };
}
