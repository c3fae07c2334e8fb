import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AllWorkers } from '../shared-queue/all-workers.js';
import { workerDto, WorkerListDto } from './worker.dto.js';

/** Who computes. */
@ApiTags('admin')
@Controller('admin/v1/workers')
export class AdminWorkersController {
  constructor(private readonly workers: AllWorkers) {}

  @Get()
  @ApiOperation({ summary: 'Workers: state, slots, restarts, how the last one ended' })
  @ApiOkResponse({ type: WorkerListDto })
  list(): WorkerListDto {
    return { data: this.workers.workers().map(workerDto) };
  }
}
