import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiParam } from '@nestjs/swagger';
import { type ErrorCode } from '../../core/errors/domain-error.js';
import { DescribesErrors } from '../http/openapi/errors.js';

const describesAddition = (
  description: string | undefined,
  ...errors: readonly ErrorCode[]
): MethodDecorator =>
  applyDecorators(
    ApiParam({ name: 'name', example: 'whisper-small' }),
    ApiOperation({ description }),
    DescribesErrors('model_not_found', ...errors),
  );

/** OpenAPI of the route that downloads a model. */
export const DescribesAddition = (): MethodDecorator =>
  describesAddition(
    'Runs `switchyard models add` and returns at once; then the models file is read again. One at a time. An ' +
      'interrupted download resumes.',
    'model_addition_running',
  );

/** OpenAPI of the route that hears of a download elsewhere. */
export const DescribesAdditionReport = (): MethodDecorator =>
  describesAddition(
    'For `switchyard models starter`, which fetches in a process of its own: every two seconds. The answer has the ' +
      'state `cancelled` once after somebody stopped it here.',
  );

/** OpenAPI of the route that stops a download. */
export const DescribesAdditionCancel = (): MethodDecorator => describesAddition(undefined);
