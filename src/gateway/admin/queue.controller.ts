import { Controller, Get, Inject } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { queueBoundsDto, QueueDto, queueLineDto, queueTotalDto } from './queue.dto.js';

/** Depths of the queues. */
@ApiTags('admin')
@Controller('admin/v1/queue')
export class AdminQueueController {
  constructor(
    private readonly scheduler: SchedulerService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Depth by model and priority, bounds, oldest wait' })
  @ApiOkResponse({ type: QueueDto })
  async queue(): Promise<QueueDto> {
    const depths = await this.scheduler.depths();
    return {
      accepting: this.scheduler.accepting,
      total: queueTotalDto(depths),
      bounds: queueBoundsDto(this.settings),
      models: depths.map(queueLineDto),
    };
  }
}
