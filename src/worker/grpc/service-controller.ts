import { type RpcExceptionFilter, UseFilters } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import {
  type CancelRequest,
  type CancelResponse,
  type ProgressRequest,
  type ProgressResponse,
} from '@switchyard/worker-protocol/call.codec.js';
import { encodeHealth, type HealthResponse } from '@switchyard/worker-protocol/health.codec.js';
import { throwError } from 'rxjs';
import { encodeFailure } from '../../contracts/errors/status.codec.js';
import { WAITING } from '../../core/request/device-progress.js';
import { HealthReporter } from '../execution/health-reporter.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';

/**
 * Sends every failure as a gRPC status with its error code in the trailers; Nest's own
 * filter would send UNKNOWN.
 */
const CALL_FAILURES: RpcExceptionFilter = {
  catch: error => throwError(() => encodeFailure(error)),
};

/** What each service of a worker answers besides its calls. @param service of the proto */
export function serviceController(service: string) {
  @UseFilters(CALL_FAILURES)
  class ServiceController {
    constructor(
      protected readonly calls: InFlightCalls,
      private readonly health: HealthReporter,
    ) {}

    @GrpcMethod(service, 'Cancel')
    cancel({ requestId, reason, attempt }: CancelRequest): CancelResponse {
      return { acknowledged: this.calls.cancel(requestId, reason, attempt) };
    }

    @GrpcMethod(service, 'Progress')
    async progress({ requestId, attempt }: ProgressRequest): Promise<ProgressResponse> {
      const progress = await this.calls.progress(requestId, attempt);
      return { known: progress !== undefined, ...(progress ?? WAITING) };
    }

    @GrpcMethod(service, 'Health')
    report(): HealthResponse {
      return encodeHealth(this.health.report());
    }
  }
  return ServiceController;
}
