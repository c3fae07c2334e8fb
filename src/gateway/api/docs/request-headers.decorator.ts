import { applyDecorators } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';

/** Request headers of every route that queues work. */
export function DescribesRequestHeaders(): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: 'X-Priority',
      required: false,
      schema: { type: 'string', enum: ['realtime', 'batch'] },
      description: 'REALTIME goes before BATCH, which is the default.',
    }),
    ApiHeader({
      name: 'X-Request-Id',
      required: false,
      schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' },
      description: 'Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`.',
    }),
  );
}
