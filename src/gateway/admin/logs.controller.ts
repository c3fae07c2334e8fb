import { Controller, Get, Param, Query, Res, Headers } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';
import { choiceOf, fromForm, whole } from '../../contracts/openai/field-types.js';
import { Field } from '../../contracts/openai/field.decorators.js';
import { DomainError } from '../../core/errors/domain-error.js';
import {
  LOG_LEVELS,
  type LogLevel,
  LogRing,
  LogFollower,
} from '../../platform/logging/log-ring.js';
import { Strict } from '../http/dto-validation.js';
import { choiceField, listOf, numberField, textField, answer } from '../http/openapi/answer.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';

const MAX_LINES = 2000;
/** Each holds a connection and up to a thousand lines. */
const MAX_FOLLOWERS = 16;
const TRY_AGAIN_MS = 10_000;

@Strict()
class LogQueryDto {
  @Field(fromForm(whole(1, MAX_LINES)), {
    type: undefined,
    default: 200,
    description: 'The newest ones, oldest first.',
  })
  lines = 200;

  @Field(choiceOf(LOG_LEVELS), {
    description: 'At least this level; absent: all that is logged.',
  })
  level: LogLevel = 'trace';
}

class LogLineDto extends answer({
  at: numberField({
    description: 'Unix seconds, with milliseconds.',
    example: 1767225600.123,
  }),
  level: choiceField(LOG_LEVELS),
  text: textField('Message, then further fields as JSON; at most 2048 characters.'),
}) {}

class LogDto extends listOf(LogLineDto) {}

const EVENTS = {
  type: 'string',
  description:
    'With `Accept: text/event-stream`: each line as `data: {…}` of a LogLineDto, kept ones first, then new ones.',
};

/** What the gateway and its workers logged last, from memory. */
@Controller('admin/v1')
export class AdminLogsController {
  #followers = 0;

  constructor(
    private readonly log: LogRing,
    private readonly pool: WorkerPoolService,
  ) {}

  @Get('logs')
  @ApiOperation({
    description:
      'At most 2000 lines, of the levels that `logging.level` lets pass. A reader of the event stream that is ' +
      'too slow loses lines and is told how many.',
  })
  @ApiOkResponse({
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/LogDto' } },
      'text/event-stream': {
        schema: EVENTS,
        example: 'data: {"at":1767225600.1,"level":"info","text":"answered"}\n\n',
      },
    },
  })
  @DescribesErrors('invalid_value', 'rate_limit_exceeded')
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
  @ApiParam({ name: 'id', example: 'pocketsphinx-en-0' })
  @ApiOperation({
    description:
      'At most 500 lines. Of a worker on another machine only what this gateway noticed.',
  })
  @Answers(LogDto)
  @DescribesErrors('invalid_value', 'worker_not_found')
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
