import { Controller, Get, Inject } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { type ModelQueueDepth } from '../scheduler/scheduler.service.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';

export class QueueLineDto {
  @ApiProperty({ example: 'pocketsphinx-en' }) model!: string;
  @ApiProperty() realtime!: number;
  @ApiProperty() batch!: number;
  @ApiProperty({ description: 'Bytes of the uploads that wait.' }) bytes!: number;
  @ApiProperty({ description: 'Requests that workers have now.' }) running!: number;
  @ApiPropertyOptional({ description: 'Milliseconds; absent when nothing is queued.' }) oldest_wait_ms?: number;
}

export class QueueTotalDto {
  @ApiProperty() realtime!: number;
  @ApiProperty() batch!: number;
  @ApiProperty() bytes!: number;
  @ApiProperty() running!: number;
}

export class QueueBoundsDto {
  @ApiProperty() max_requests!: number;
  @ApiProperty() max_requests_per_model!: number;
  @ApiProperty() max_bytes!: number;
  @ApiProperty() max_bytes_per_model!: number;
  @ApiProperty({ description: 'Share of each bound that only realtime may use.' }) realtime_reserve!: number;
}

export class QueueDto {
  @ApiProperty({ description: 'False once the server drains.' }) accepting!: boolean;
  @ApiProperty({ type: QueueTotalDto }) total!: QueueTotalDto;
  @ApiProperty({ type: QueueBoundsDto }) bounds!: QueueBoundsDto;
  @ApiProperty({ type: [QueueLineDto] }) models!: QueueLineDto[];
}

export const queueLineDto = ({ oldestWaitMs, ...depth }: ModelQueueDepth): QueueLineDto => ({
  ...depth,
  oldest_wait_ms: oldestWaitMs,
});

export function queueTotalDto(depths: readonly ModelQueueDepth[]): QueueTotalDto {
  const sum = (field: keyof QueueTotalDto) => depths.reduce((total, depth) => total + depth[field], 0);
  return { realtime: sum('realtime'), batch: sum('batch'), bytes: sum('bytes'), running: sum('running') };
}

export const queueBoundsDto = ({ queue }: Settings): QueueBoundsDto => ({
  max_requests: queue.maxRequests,
  max_requests_per_model: queue.maxRequestsPerModel,
  max_bytes: queue.maxBytes,
  max_bytes_per_model: queue.maxBytesPerModel,
  realtime_reserve: queue.realtimeReserve,
});

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
