import { type ValidationError, ValidationPipe } from '@nestjs/common';
import { DomainError } from '../../core/shared/domain-error.js';

/** Admin input is strict: a misspelt filter that was ignored would cancel more than was meant. */
export const adminInput = (): ValidationPipe =>
  new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    exceptionFactory: errors => invalid(errors[0]),
  });

function invalid(error: ValidationError | undefined): DomainError {
  const rule = Object.values(error?.constraints ?? {})[0] ?? 'The input is not valid';
  return new DomainError('invalid_value', `${rule}.`, { param: error?.property });
}
