import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { catchError, type Observable } from 'rxjs';
import { DomainError } from '../../../core/errors/domain-error.js';
import { storageUnavailable } from '../../../platform/http/passing-errors.js';
import { isOutage } from '../../../platform/storage/storage-problems.js';

/**
 * Answers 503 with `Retry-After` while the database or blob store is unavailable; SDKs
 * retry by themselves.
 */
@Injectable()
export class OutageInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      catchError((cause: unknown) => {
        if (cause instanceof DomainError || !isOutage(cause)) throw cause;
        throw storageUnavailable(UNAVAILABLE, cause);
      }),
    );
  }
}

const UNAVAILABLE = 'The database or the file store is unavailable.';
