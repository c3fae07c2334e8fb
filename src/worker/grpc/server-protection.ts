import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ServerCredentials, type ServerInterceptor, ServerInterceptingCall, status } from '@grpc/grpc-js';
import { type WorkerSpec, type WorkerTls } from '../../platform/config/worker-spec.js';

/** In clear, or TLS with the worker's certificate. @throws Error when a file cannot be read. */
export function serverCredentials(tls: WorkerTls | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const { certFile, keyFile, clientCaFile } = tls;
  const pair = { cert_chain: readFileSync(certFile), private_key: readFileSync(keyFile) };
  const clientCa = clientCaFile === undefined ? null : readFileSync(clientCaFile);
  return ServerCredentials.createSsl(clientCa, [pair], clientCa !== null);
}

/** What stands before every RPC, health checks included. @throws Error when the token file cannot be read or is empty. */
export function serverInterceptors({ tokenFile }: Pick<WorkerSpec, 'tokenFile'>): ServerInterceptor[] {
  if (tokenFile === undefined) return [];
  const token = readFileSync(tokenFile, 'utf8').trim();
  if (token === '') throw new Error(`${tokenFile} holds no token`);
  return [demandToken(token)];
}

/** Ends calls without the token before they reach a handler; their messages are never read. */
function demandToken(token: string): ServerInterceptor {
  const expected = digest(`Bearer ${token}`);
  return (_, call) =>
    new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, receive) {
            const [given = ''] = metadata.get('authorization');
            if (timingSafeEqual(digest(given.toString()), expected)) receive(metadata);
            else call.sendStatus({ code: status.UNAUTHENTICATED, details: 'This worker demands a token.' });
          },
        });
      },
    });
}

/** Of equal length whatever was sent, so that the comparison tells nothing about the token. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
