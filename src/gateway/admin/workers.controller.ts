import { applyDecorators, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { AllWorkers } from '../shared-queue/all-workers.js';
import { type WorkerOrder } from '../worker-pool/pooled-worker-options.js';
import { WORKER_STATES, type WorkerView } from '../worker-pool/worker-view.js';

export class WorkerSlotsDto {
  @ApiProperty() total!: number;
  @ApiProperty({ description: 'Free for any request; never negative.' }) free!: number;
  @ApiProperty({ description: 'Realtime may exceed the total by one group (max_batch).' }) in_use!: number;
}

export class WorkerExitDto {
  @ApiProperty({ nullable: true, type: Number }) code!: number | null;
  @ApiProperty({ nullable: true, type: String, example: 'SIGKILL' }) signal!: string | null;
  @ApiPropertyOptional() reason?: string;
  @ApiProperty({ type: [String], description: 'The last lines it wrote, oldest first.' }) lines!: readonly string[];
}

export class WorkerDto {
  @ApiProperty({ example: 'pocketsphinx-en-0' }) id!: string;
  @ApiProperty() model!: string;
  @ApiPropertyOptional({ example: '127.0.0.1:41033' }) address?: string;
  @ApiPropertyOptional() pid?: number;
  @ApiPropertyOptional({ example: 'cuda:0' }) device?: string;
  @ApiProperty({ enum: WORKER_STATES }) state!: string;
  @ApiProperty({ type: WorkerSlotsDto }) slots!: WorkerSlotsDto;
  @ApiProperty({ description: 'Live streams it takes besides files.' }) streams!: number;
  @ApiProperty({ description: 'Of these, taken now.' }) streams_in_use!: number;
  @ApiProperty({ description: 'An operator drained it: nothing is sent to it until it is resumed.' }) drained!: boolean;
  @ApiProperty({ description: 'Processes started after the first.' }) restarts!: number;
  @ApiPropertyOptional({ description: 'Why it gets no requests, or one at a time; or what is wrong with its output.' })
  problem?: string;
  @ApiPropertyOptional({ enum: ['open', 'half_open'], description: 'Its circuit breaker; absent: closed.' })
  breaker?: string;
  @ApiPropertyOptional({ type: WorkerExitDto }) last_exit?: WorkerExitDto;
  @ApiPropertyOptional({ type: Object, description: 'What it last said about itself.' }) health?: object;
}

export class WorkerListDto {
  @ApiProperty({ type: [WorkerDto] }) data!: WorkerDto[];
}

export const workerDto = ({
  slots,
  lastExit,
  health,
  streamsInUse,
  drained = false,
  ...view
}: WorkerView): WorkerDto => ({
  ...view,
  drained,
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

/** What all orders have in common. */
const DescribesOrder = (summary: string, description: string): MethodDecorator =>
  applyDecorators(
    HttpCode(200),
    ApiParam({ name: 'id', example: 'pocketsphinx-en-0' }),
    ApiOperation({ summary, description }),
    ApiOkResponse({ type: WorkerDto }),
    DescribesErrors('worker_not_found', 'worker_not_supervised', 'queue_unavailable'),
  );

/** The workers, and orders to them. */
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

  @Post(':id/drain')
  @DescribesOrder(
    'Send a worker nothing more until it is resumed',
    'Returns at once. Running requests and live streams finish, waiting requests stay queued. It stays drained ' +
      'when it reconnects, restarts or its model is loaded again, but not when the gateway restarts. A worker that ' +
      'takes its requests from the shared queue sees the order within a second, and stays drained until its process ' +
      'ends.',
  )
  drain(@Param('id') id: string): Promise<WorkerDto> {
    return this.#order(id, 'drain');
  }

  @Post(':id/resume')
  @DescribesOrder('Send a drained worker requests again', 'Also cancels a restart that waits.')
  resume(@Param('id') id: string): Promise<WorkerDto> {
    return this.#order(id, 'resume');
  }

  @Post(':id/restart')
  @DescribesOrder(
    'Drain a worker, replace its process, and resume it',
    'Returns at once. Only workers that this gateway started, and that do not pull their requests.',
  )
  restart(@Param('id') id: string): Promise<WorkerDto> {
    return this.#order(id, 'restart');
  }

  async #order(id: string, order: WorkerOrder): Promise<WorkerDto> {
    return workerDto(await this.workers.order(id, order));
  }
}
