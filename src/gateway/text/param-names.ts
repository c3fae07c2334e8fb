import { UseInterceptors } from '@nestjs/common';
import { catchError, type Observable } from 'rxjs';
import { DomainError } from '../../core/errors/domain-error.js';

/** Fields of a chat, and what another dialect calls them. */
export type ParamNames = readonly (readonly [RegExp, string])[];

export function renamed(names: ParamNames, param: string): string {
  const name = names.find(([pattern]) => pattern.test(param));
  return name ? param.replace(...name) : param;
}

/**
 * Chat is what engines know: what they say of its fields is said of those that
 * the caller sent.
 */
export function inWordsOf(names: ParamNames, error: unknown): unknown {
  if (!(error instanceof DomainError) || error.param === undefined) return error;
  const param = renamed(names, error.param);
  if (param === error.param) return error;
  const { code, message, foreignCode, retryAfterMs } = error;
  const details = {
    param,
    foreignCode,
    cause: error,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
  return new DomainError(code, message.replaceAll(`\`${error.param}\``, `\`${param}\``), details);
}

/** Of a controller: its errors name the fields that the caller sent. */
export const NamesFields = (names: ParamNames): ClassDecorator & MethodDecorator =>
  UseInterceptors({
    intercept: (_context: unknown, next: { handle(): Observable<unknown> }) =>
      next.handle().pipe(
        catchError((error: unknown) => {
          throw inWordsOf(names, error);
        }),
      ),
  });
