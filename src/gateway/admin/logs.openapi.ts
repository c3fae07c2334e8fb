import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { DescribesErrors } from '../http/openapi/errors.js';

const EVENTS = {
  type: 'string',
  description:
    'With `Accept: text/event-stream`: each line as `data: {…}` of a LogLineDto, kept ones first, then new ones.',
};

/** OpenAPI of the gateway's log. */
export const DescribesLog = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      description:
        'At most 2000 lines, of the levels that `logging.level` lets pass. A reader of the event stream that is ' +
        'too slow loses lines and is told how many.',
    }),
    ApiOkResponse({
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/LogDto' } },
        'text/event-stream': {
          schema: EVENTS,
          example: 'data: {"at":1767225600.1,"level":"info","text":"answered"}\n\n',
        },
      },
    }),
    DescribesErrors('invalid_value', 'rate_limit_exceeded'),
  );

/** OpenAPI of a worker's log. */
export const DescribesWorkerLog = (): MethodDecorator =>
  applyDecorators(
    ApiParam({ name: 'id', example: 'moonshine-tiny-en-0' }),
    ApiOperation({
      description:
        'At most 500 lines. Of a worker on another machine only what this gateway noticed.',
    }),
    DescribesErrors('invalid_value', 'worker_not_found'),
  );
