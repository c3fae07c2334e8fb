import { Get } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { AdminController } from '../http/admin-controller.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { RequestQueues } from '../queue/request-queues.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { QueueDto } from './dto/queue.dto.js';

/** Depths of the queues. */
@AdminController('queue')
export class AdminQueueController {
  constructor(
    private readonly scheduler: SchedulerService,
    private readonly queues: RequestQueues,
    private readonly settings: Settings,
  ) {}

  @Get()
  @Answers(QueueDto)
  async queue() {
    const { queue: bounds } = this.settings;
    const depths = await this.queues.depths();
    const sum = (field: 'realtime' | 'batch' | 'bytes' | 'running') =>
      depths.reduce((total, depth) => total + depth[field], 0);
    return {
      accepting: this.scheduler.accepting,
      total: {
        realtime: sum('realtime'),
        batch: sum('batch'),
        bytes: sum('bytes'),
        running: sum('running'),
      },
      bounds: {
        max_requests: bounds.maxRequests,
        max_requests_per_model: bounds.maxRequestsPerModel,
        max_bytes: bounds.maxBytes,
        max_bytes_per_model: bounds.maxBytesPerModel,
        realtime_reserve: bounds.realtimeReserve,
      },
      models: depths.map(({ oldestWaitMs, ...depth }) => ({
        ...depth,
        oldest_wait_ms: oldestWaitMs,
      })),
    };
  }
}
