import { status } from '@grpc/grpc-js';
import { Controller } from '@nestjs/common';
import { GrpcMethod, RpcException } from '@nestjs/microservices';
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  NOT_SERVING,
  SERVICE_NAMES,
  SERVICE_UNKNOWN,
  SERVING,
} from '@switchyard/worker-protocol/health.codec.js';
import { concat, distinctUntilChanged, map, NEVER, type Observable, of } from 'rxjs';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { PullReadiness, WorkerState } from '../lifecycle/worker-state.js';

/**
 * Service name for the state of pulling from the shared queue: for readiness probes, not
 * for liveness (D-19).
 */
const PULL_SERVICE = 'switchyard.pull';

/**
 * `grpc.health.v1.Health`, for standard probes. The empty service name means
 * the whole server.
 */
@Controller()
export class HealthCheckController {
  constructor(
    private readonly spec: WorkerSpec,
    private readonly state: WorkerState,
    private readonly pull: PullReadiness,
  ) {}

  @GrpcMethod('Health', 'Check')
  check({ service }: HealthCheckRequest): HealthCheckResponse {
    if (service === PULL_SERVICE) return statusOf(this.pull.ready$.value);
    if (this.#knows(service)) return statusOf(this.state.phase === 'ready');
    throw new RpcException({
      code: status.NOT_FOUND,
      details: `No service "${service}" here.`,
    });
  }

  /**
   * Does not end while the worker runs, as the protocol requires, even for
   * an unknown service.
   */
  @GrpcMethod('Health', 'Watch')
  watch({ service }: HealthCheckRequest): Observable<HealthCheckResponse> {
    if (service === PULL_SERVICE) return this.pull.ready$.pipe(map(statusOf));
    if (!this.#knows(service)) return concat(of({ status: SERVICE_UNKNOWN }), NEVER);
    return this.state.phase$.pipe(
      map(phase => phase === 'ready'),
      distinctUntilChanged(),
      map(statusOf),
    );
  }

  /** The other services answer UNIMPLEMENTED. */
  #knows(service: string): boolean {
    return service === '' || service === SERVICE_NAMES[this.spec.model.kind];
  }
}

const statusOf = (ready: boolean): HealthCheckResponse => ({
  status: ready ? SERVING : NOT_SERVING,
});
