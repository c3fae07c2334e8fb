import { Server } from '@grpc/grpc-js';
import { ServerGrpc } from '@nestjs/microservices';
import { WORKER_PACKAGES, workerPackageDefinition } from '../../contracts/grpc/worker-package.codec.js';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { serverCredentials, serverInterceptors } from './server-protection.js';

/** How long answers already given may take to leave after the last call ended. */
const FLUSH_MS = 1000;

/**
 * Nest's gRPC transport with four differences: the port that was bound is known (port 0 works), limits, TLS and token come from
 * the spec, and closing lets answers leave before it cuts connections.
 */
export class WorkerGrpcServer extends ServerGrpc {
  readonly #spec: WorkerSpec;
  #server: Server | undefined;
  #port = 0;

  constructor(spec: WorkerSpec) {
    super({ package: WORKER_PACKAGES, packageDefinition: workerPackageDefinition });
    this.#spec = spec;
  }

  /** The bound port; 0 before `listen`. */
  get port(): number {
    return this.#port;
  }

  override async createClient(): Promise<Server> {
    const server = new Server({ ...this.#channelOptions(), interceptors: serverInterceptors(this.#spec) });
    const address = `${this.#spec.host}:${this.#spec.port}`;
    this.#port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(address, serverCredentials(this.#spec.tls), (error, port) =>
        error ? reject(error) : resolve(port),
      );
    });
    this.#server = server;
    return server;
  }

  override async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const timer = setTimeout(() => server.forceShutdown(), FLUSH_MS);
    await new Promise<void>(resolve => server.tryShutdown(() => resolve()));
    clearTimeout(timer);
  }

  #channelOptions() {
    const { maxMessageBytes, keepaliveTimeMs, keepaliveTimeoutMs } = this.#spec;
    return {
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.max_send_message_length': maxMessageBytes,
      'grpc.keepalive_time_ms': keepaliveTimeMs,
      'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
      // Not enforced by grpc-js, but by the protocol's other servers: pings of an idle gateway are no reason to hang up.
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.http2.min_ping_interval_without_data_ms': 1000,
    };
  }
}
