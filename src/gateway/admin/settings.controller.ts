import { Get } from '@nestjs/common';
import { SettingSources } from '../../platform/config/setting-source.js';
import { AdminController } from '../http/admin-controller.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { SettingListDto, settingDto } from './dto/settings.dto.js';

/** The settings in effect. */
@AdminController('settings')
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
