import { ApiProperty } from '@nestjs/swagger';
import { type DomainError } from '../../core/errors/domain-error.js';
import { errorDefinition } from '../errors/error-registry.js';

class ErrorBody {
  @ApiProperty({ example: 'The model `whisper-9` does not exist.' })
  message!: string;

  @ApiProperty({ example: 'invalid_request_error' })
  type!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    example: 'model',
    description: 'The field at fault.',
  })
  param!: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'model_not_found' })
  code!: string | null;
}

/** The one shape of every error, on every route. */
export class ErrorEnvelope {
  @ApiProperty({ type: ErrorBody })
  error!: ErrorBody;
}

export function errorEnvelope(error: DomainError): ErrorEnvelope {
  const code = error.foreignCode ?? error.code;
  return {
    error: {
      message: error.message,
      type: errorDefinition(error).type,
      param: error.param ?? null,
      code,
    },
  };
}

/**
 * Headers that say whether SDKs and when to retry. `Retry-After` is whole seconds,
 * rounded up; SDKs prefer the exact `retry-after-ms`. Neither is below one second.
 */
export function retryHeaders(error: DomainError): Record<string, string> {
  if (errorDefinition(error).retry === 'never') return { 'x-should-retry': 'false' };
  const afterMs = Math.max(1000, Math.round(error.retryAfterMs ?? 1000));
  return {
    'x-should-retry': 'true',
    'retry-after': String(Math.ceil(afterMs / 1000)),
    'retry-after-ms': String(afterMs),
  };
}
