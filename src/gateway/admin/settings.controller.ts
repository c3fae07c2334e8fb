import { Controller, Get } from '@nestjs/common';
import { SettingSources } from '../../platform/config/setting-source.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { SettingListDto, settingDto } from './settings.dto.js';

/** The settings in effect. */
@Controller('admin/v1/settings')
export class AdminSettingsController {
  constructor(private readonly sources: SettingSources) {}

  @Get()
  @Answers(SettingListDto)
  list() {
    return {
      object: 'list',
      data: [...this.sources].map(([name, { value, origin }]) => settingDto(name, value, origin)),
    };
  }
}
