import { applyDecorators, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { AdminController } from '../http/admin-controller.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { AllWorkers } from '../shared-queue/all-workers.js';
import { type WorkerOrder } from '../worker-pool/worker-view.js';
import { WorkerDto, WorkerListDto, workerDto } from './dto/worker.dto.js';

/** What all orders have in common. */
const DescribesOrder = (summary: string, description: string): MethodDecorator =>
  applyDecorators(
    HttpCode(200),
    ApiParam({ name: 'id', example: 'moonshine-tiny-en-0' }),
    ApiOperation({ summary, description }),
    ApiOkResponse({ type: WorkerDto }),
    DescribesErrors('worker_not_found', 'worker_not_supervised', 'queue_unavailable'),
  );

/** The workers, and orders to them. */
@AdminController('workers')
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
