import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiServiceUnavailableResponse } from '@nestjs/swagger';

/** OpenAPI of the bare address. */
export const DescribesRoot = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ description: 'Browsers are redirected to the console.' }),
    ApiOkResponse({
      schema: {
        type: 'object',
        example: { name: 'switchyard', api: '/v1', docs: '/docs' },
      },
    }),
  );

/** OpenAPI of the summary for people. */
export const DescribesSummary = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Summary for people: models, workers, dependencies, draining',
    }),
    ApiOkResponse({
      description:
        '`status` is ok, degraded, unavailable or draining. The rest is for keys with the scope admin.',
    }),
  );

/** OpenAPI of the probe of the process. */
export const DescribesLiveness = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ summary: '200 while the process serves' }),
    ApiOkResponse({ description: 'The event loop turns; nothing else is asked.' }),
  );

/** OpenAPI of the probe of the service. */
export const DescribesReadiness = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ summary: '200 while requests can be served, else 503' }),
    ApiOkResponse({ description: 'At least one model has a ready worker.' }),
    ApiServiceUnavailableResponse({
      description: 'No worker is ready yet, or the server is draining.',
    }),
  );
