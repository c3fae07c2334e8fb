import { Catch, type RpcExceptionFilter } from '@nestjs/common';
import { type Observable, throwError } from 'rxjs';
import { encodeFailure } from '../../contracts/grpc/status.codec.js';

/**
 * Sends every failure as a gRPC status with its error code in the trailers; Nest's own
 * filter would send UNKNOWN.
 */
@Catch()
export class CallFailureFilter implements RpcExceptionFilter {
  catch(error: unknown): Observable<never> {
    return throwError(() => encodeFailure(error));
  }
}
