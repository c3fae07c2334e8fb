import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { DescribesErrors } from '../../http/openapi/errors.js';

const EXAMPLE = {
  schema: {
    type: 'object',
    example: { id: 'resp_0198a1b2', object: 'response', status: 'completed' },
  },
};

/** OpenAPI of all routes of a stored response. */
export const DescribesStoredResponses = (): ClassDecorator =>
  ApiParam({ name: 'id', description: 'The `id` of a stored response.' });

const describesAnswer = (description: string, example = {}): MethodDecorator =>
  applyDecorators(
    ApiOkResponse({ description, ...example }),
    DescribesErrors('storage_unavailable', 'response_not_found', 'invalid_value'),
  );

/** OpenAPI of the route that returns it. */
export const DescribesRetrieval = (): MethodDecorator =>
  describesAnswer('The response; with `stream` its events.', EXAMPLE);

/** OpenAPI of the route that lists its input. */
export const DescribesInputItems = (): MethodDecorator =>
  describesAnswer('Items of this response, without those of earlier ones.');

/** OpenAPI of the route that cancels it. */
export const DescribesResponseCancel = (): MethodDecorator =>
  describesAnswer('The response; what was generated before is in it.', EXAMPLE);
