import { applyDecorators, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';
import {
  anyField,
  choiceField,
  flagField,
  listField,
  nullableField,
  numberField,
  optionalField,
  textField,
  answer,
} from '../http/openapi/answer.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { AllWorkers } from '../shared-queue/all-workers.js';
import { WORKER_STATES, type WorkerView, type WorkerOrder } from '../worker-pool/worker-view.js';

class WorkerExitDto extends answer({
  code: nullableField(Number),
  signal: nullableField(textField({ example: 'SIGKILL' })),
  reason: optionalField(String),
  lines: listField(String, 'The last lines it wrote, oldest first.'),
}) {}

class WorkerSlotsDto extends answer({
  total: Number,
  free: numberField('Free for any request; never negative.'),
  in_use: numberField('Realtime may exceed the total by one group (max_batch).'),
}) {}

export class WorkerDto extends answer({
  id: textField({ example: 'pocketsphinx-en-0' }),
  model: String,
  address: optionalField(textField({ example: '127.0.0.1:41033' })),
  pid: optionalField(Number),
  device: optionalField(textField({ example: 'cuda:0' })),
  state: choiceField(WORKER_STATES),
  slots: WorkerSlotsDto,
  streams: numberField('Live streams it takes besides files.'),
  streams_in_use: numberField('Of these, taken now.'),
  drained: flagField('An operator drained it: nothing is sent to it until it is resumed.'),
  restarts: numberField('Processes started after the first.'),
  problem: optionalField(
    textField('Why it gets no requests, or one at a time; or what is wrong with its output.'),
  ),
  breaker: optionalField(
    choiceField(['open', 'half_open'], 'Its circuit breaker; absent: closed.'),
  ),
  last_exit: optionalField(WorkerExitDto),
  health: optionalField(anyField<object>('What it last said about itself.')),
}) {}

class WorkerListDto extends answer({ data: listField(WorkerDto) }) {}

export const workerDto = ({
  slots,
  lastExit,
  health,
  streamsInUse,
  drained,
  ...worker
}: WorkerView): WorkerDto => ({
  ...worker,
  drained: drained ?? false,
  streams_in_use: streamsInUse ?? 0,
  health: health && healthDto(health),
  slots: { total: slots.total, free: slots.free, in_use: slots.inUse },
  last_exit: lastExit,
});

/** The worker's words in the spelling of the other answers. */
const healthDto = ({
  maxBatch,
  maxConcurrent,
  inFlight,
  maxMessageBytes,
  ...rest
}: WorkerHealthReport): object => ({
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
@Controller('admin/v1/workers')
export class AdminWorkersController {
  constructor(private readonly workers: AllWorkers) {}

  @Get()
  @Answers(WorkerListDto)
  list() {
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
  drain(@Param('id') id: string) {
    return this.#order(id, 'drain');
  }

  @Post(':id/resume')
  @DescribesOrder('Send a drained worker requests again', 'Also cancels a restart that waits.')
  resume(@Param('id') id: string) {
    return this.#order(id, 'resume');
  }

  @Post(':id/restart')
  @DescribesOrder(
    'Drain a worker, replace its process, and resume it',
    'Returns at once. Only workers that this gateway started, and that do not pull their requests.',
  )
  restart(@Param('id') id: string) {
    return this.#order(id, 'restart');
  }

  async #order(id: string, order: WorkerOrder) {
    return workerDto(await this.workers.order(id, order));
  }
}
