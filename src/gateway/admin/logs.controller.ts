import { Get, Param, Query, Res, Headers } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { DomainError } from '../../core/errors/domain-error.js';
import { LogFollower } from '../../platform/logging/log-follower.js';
import { LogRing } from '../../platform/logging/log-ring.js';
import { AdminController } from '../http/admin-controller.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { LogQueryDto } from './dto/log-query.dto.js';
import { LogDto } from './dto/log.dto.js';
import { DescribesLog, DescribesWorkerLog } from './logs.openapi.js';

/** Each holds a connection and up to a thousand lines. */
const MAX_FOLLOWERS = 16;

const TRY_AGAIN_MS = 10_000;

/** What the gateway and its workers logged last, from memory. */
@AdminController()
export class AdminLogsController {
  #followers = 0;

  constructor(
    private readonly log: LogRing,
    private readonly pool: WorkerPoolService,
  ) {}

  @Get('logs')
  @DescribesLog()
  logs(
    @Query() query: LogQueryDto,
    @Headers('accept') accept: string | undefined,
    @Res() reply: FastifyReply,
  ): void {
    if (accept?.includes('text/event-stream')) return this.#follow(query, reply);
    void reply.send({
      object: 'list',
      data: this.log.last(query.lines, query.level),
    } satisfies LogDto);
  }

  @Get('workers/:id/log')
  @Answers(LogDto)
  @DescribesWorkerLog()
  worker(@Param('id') id: string, @Query() { lines, level }: LogQueryDto) {
    const log = this.pool.log(id);
    if (!log) throw new DomainError('worker_not_found', `This gateway has no worker ${id}.`);
    return { object: 'list', data: log.last(lines, level) };
  }

  #follow(query: LogQueryDto, reply: FastifyReply): void {
    if (this.#followers >= MAX_FOLLOWERS)
      throw new DomainError(
        'rate_limit_exceeded',
        `The log has ${MAX_FOLLOWERS} readers already.`,
        {
          retryAfterMs: TRY_AGAIN_MS,
        },
      );
    this.#followers += 1;
    const follower = new LogFollower(this.log, query);
    follower.once('close', () => (this.#followers -= 1));
    void reply
      .headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      .send(follower);
  }
}
