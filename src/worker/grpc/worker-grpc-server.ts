import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as grpc from '@grpc/grpc-js';
import {
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { ServerGrpc } from '@nestjs/microservices';
import { readToken } from '@switchyard/worker-protocol/channel-security.js';
import {
  WORKER_PACKAGES,
  workerPackageDefinition,
} from '@switchyard/worker-protocol/worker-package.codec.js';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { explainListenProblem } from '../../platform/process/listen-check.js';

/**
 * Plain text, or TLS with the worker's certificate. @throws Error when a file
 * cannot be read.
 */
function serverCredentials(tls: WorkerSpec['tls']): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const { certFile, keyFile, clientCaFile } = tls;
  const pair = {
    cert_chain: readFileSync(certFile),
    private_key: readFileSync(keyFile),
  };
  const clientCa = clientCaFile === undefined ? null : readFileSync(clientCaFile);
  return ServerCredentials.createSsl(clientCa, [pair], clientCa !== null);
}

/**
 * Interceptors of every RPC, health checks included. @throws Error when the token file
 * cannot be read or is empty.
 */
function serverInterceptors({ tokenFile, localToken }: WorkerSpec): ServerInterceptor[] {
  const token = tokenFile === undefined ? localToken : readToken(tokenFile);
  return token === undefined ? [] : [requireToken(token)];
}

/**
 * Rejects calls without the token before they reach a handler; their messages
 * are never read.
 */
function requireToken(token: string): ServerInterceptor {
  const expected = digest(`Bearer ${token}`);
  return (_, call) =>
    new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, receive) {
            const [given = ''] = metadata.get('authorization');
            if (timingSafeEqual(digest(given.toString()), expected)) receive(metadata);
            else
              call.sendStatus({
                code: status.UNAUTHENTICATED,
                details: 'This worker requires a token.',
              });
          },
        });
      },
    });
}

/**
 * Of equal length for any input, so that the comparison leaks nothing about the token.
 */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** How long sent answers may take to leave after the last call ended. */
const FLUSH_MS = 1000;

/**
 * Nest's gRPC transport with four differences: the port that was bound is known (port 0
 * works), limits, TLS and token come from the spec, and closing lets answers leave before
 * it cuts connections.
 */
export class WorkerGrpcServer extends ServerGrpc {
  #server: Server | undefined;
  /** The bound port; 0 before `listen`. */
  port = 0;

  constructor(private readonly spec: WorkerSpec) {
    super({ package: WORKER_PACKAGES, packageDefinition: workerPackageDefinition });
  }

  /** Nest asks by name; packages are compiled, so that nothing reads .proto files. */
  protected override loadPackageSynchronously<T>(name: string): T {
    return (name === '@grpc/grpc-js' ? grpc : {}) as T;
  }

  override async createClient(): Promise<Server> {
    const server = new Server({
      ...this.#channelOptions(),
      interceptors: serverInterceptors(this.spec),
    });
    const { host, port, tls } = this.spec;
    const explain = () =>
      explainListenProblem({ host, port }, other => `--listen ${host}:${other}`);
    this.port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`${host}:${port}`, serverCredentials(tls), (error, bound) => {
        if (!error) return resolve(bound);
        void explain().then(problem => reject(problem === undefined ? error : new Error(problem)));
      });
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
    const { maxMessageBytes, keepaliveTimeMs, keepaliveTimeoutMs } = this.spec;
    return {
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.max_send_message_length': maxMessageBytes,
      'grpc.keepalive_time_ms': keepaliveTimeMs,
      'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
      // Not enforced by grpc-js, but by other servers: pings of an idle gateway must not
      // close the connection.
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.http2.min_ping_interval_without_data_ms': 1000,
    };
  }
}
