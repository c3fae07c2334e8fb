import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';
import { AllWorkers } from '../shared-queue/all-workers.js';
import { WORKER_STATES, type WorkerView } from '../worker-pool/worker-view.js';

export class WorkerSlotsDto {
  @ApiProperty() total!: number;
  @ApiProperty({ description: 'For anybody; never negative.' }) free!: number;
  @ApiProperty({ description: 'Realtime may exceed the total by one group (max_batch).' }) in_use!: number;
}

export class WorkerExitDto {
  @ApiProperty({ nullable: true, type: Number }) code!: number | null;
  @ApiProperty({ nullable: true, type: String, example: 'SIGKILL' }) signal!: string | null;
  @ApiPropertyOptional() reason?: string;
  @ApiProperty({ type: [String], description: 'The last lines it wrote, oldest first.' }) lines!: readonly string[];
}

export class WorkerDto {
  @ApiProperty({ example: 'pocketsphinx-en-1' }) id!: string;
  @ApiProperty() model!: string;
  @ApiPropertyOptional({ example: '127.0.0.1:41033' }) address?: string;
  @ApiPropertyOptional() pid?: number;
  @ApiPropertyOptional({ example: 'cuda:0' }) device?: string;
  @ApiProperty({ enum: WORKER_STATES }) state!: string;
  @ApiProperty({ type: WorkerSlotsDto }) slots!: WorkerSlotsDto;
  @ApiProperty({ description: 'Live streams it takes besides files.' }) streams!: number;
  @ApiProperty({ description: 'Of these, taken now.' }) streams_in_use!: number;
  @ApiProperty({ description: 'Processes started after the first.' }) restarts!: number;
  @ApiPropertyOptional({ description: 'Why it gets no requests, or one at a time.' }) problem?: string;
  @ApiPropertyOptional({ enum: ['open', 'half_open'], description: 'Its circuit breaker; absent: closed.' })
  breaker?: string;
  @ApiPropertyOptional({ type: WorkerExitDto }) last_exit?: WorkerExitDto;
  @ApiPropertyOptional({ type: Object, description: 'What it last said about itself.' }) health?: object;
}

export class WorkerListDto {
  @ApiProperty({ type: [WorkerDto] }) data!: WorkerDto[];
}

export const workerDto = ({ slots, lastExit, health, streamsInUse, ...view }: WorkerView): WorkerDto => ({
  ...view,
  streams_in_use: streamsInUse ?? 0,
  health: health && healthDto(health),
  slots: { total: slots.total, free: slots.free, in_use: slots.inUse },
  last_exit: lastExit,
});

/** The worker's words in the spelling of the other answers. */
const healthDto = ({ maxBatch, maxConcurrent, inFlight, maxMessageBytes, ...rest }: WorkerHealthReport): object => ({
  ...rest,
  max_batch: maxBatch,
  max_concurrent: maxConcurrent,
  in_flight: inFlight,
  max_message_bytes: maxMessageBytes,
});

/** The workers. */
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
