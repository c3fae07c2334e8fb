import { applyDecorators } from '@nestjs/common';
import { ApiCreatedResponse, ApiOperation } from '@nestjs/swagger';
import { DescribesErrors } from '../http/openapi/errors.js';
import { IssuedKeyDto } from './dto/api-key.dto.js';

/** OpenAPI of the route that makes a key. */
export const DescribesKeyCreation = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ description: 'The answer is the only place where the key appears.' }),
    ApiCreatedResponse({ type: IssuedKeyDto }),
    DescribesErrors(
      'invalid_value',
      'missing_required_parameter',
      'invalid_json',
      'too_many_keys',
      'storage_unavailable',
    ),
  );

const describesKey = (description: string): MethodDecorator =>
  applyDecorators(
    ApiOperation({ description }),
    DescribesErrors('key_not_found', 'key_is_from_file', 'storage_unavailable'),
  );

/** OpenAPI of the route that changes a key. */
export const DescribesKeyUpdate = (): MethodDecorator =>
  describesKey(
    'What is absent stays as it is. In effect on this gateway at once, on others within 5 s; open sessions and ' +
      'batches keep the scopes, models and priority that they began with.',
  );

/** OpenAPI of the route that gives a key another secret. */
export const DescribesKeyRotation = (): MethodDecorator =>
  describesKey('Sessions that are open stay open: they belong to the key, not to its secret.');

/** OpenAPI of the route that ends a key. */
export const DescribesKeyRevocation = (): MethodDecorator =>
  describesKey('In effect on this gateway at once, on others within 5 s.');
