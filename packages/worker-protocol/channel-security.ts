import { readFileSync } from 'node:fs';
import {
  type ChannelCredentials,
  credentials,
  InterceptingCall,
  type Interceptor,
} from '@grpc/grpc-js';

/** Files are read when the model is loaded. */
export interface RemoteSpec {
  /** Present: TLS. Empty: with the certificate authorities that Node knows. */
  readonly tls?: {
    readonly caFile?: string;
    /** Certificate of this gateway, for workers that ask for one; always with `keyFile`. */
    readonly certFile?: string;
    readonly keyFile?: string;
    /**
     * The name in the workers' certificate, when it is not the host they are reached by.
     */
    readonly serverName?: string;
  };
  /** Holds the bearer token that the workers demand. */
  readonly tokenFile?: string;
}

/**
 * How the connections to a model's workers are protected; created each time the
 * model is loaded.
 */
export interface ChannelSecurity {
  readonly credentials: ChannelCredentials;
  /** Puts the bearer token on every call; empty without one. */
  readonly interceptors: Interceptor[];
  readonly usesTls: boolean;
  /** The name that the certificate must carry, when it is not the host of the address. */
  readonly serverName?: string;
}

/** To a worker of this machine, which asks for that token (`localToken`). */
export const localSecurity = (token: string): ChannelSecurity => ({
  credentials: credentials.createInsecure(),
  interceptors: [bearer(token)],
  usesTls: false,
});

/** @throws Error when a file cannot be read or holds no certificate. */
export function channelSecurity(remote: RemoteSpec = {}): ChannelSecurity {
  const { tls, tokenFile } = remote;
  return {
    credentials: tls ? tlsCredentials(tls) : credentials.createInsecure(),
    interceptors: tokenFile === undefined ? [] : [bearer(readToken(tokenFile))],
    usesTls: tls !== undefined,
    serverName: tls?.serverName,
  };
}

/** @param host what was looked up in DNS: the name, unless the settings have another */
export const knownAs = (security: ChannelSecurity, host: string | undefined): ChannelSecurity => ({
  ...security,
  serverName: security.serverName ?? host,
});

function tlsCredentials({ caFile, certFile, keyFile }: NonNullable<RemoteSpec['tls']>) {
  const read = (file: string | undefined): Buffer | null =>
    file === undefined ? null : readFileSync(file);
  return credentials.createSsl(read(caFile), read(keyFile), read(certFile));
}

/** Editors end files with a newline; no token does. @throws Error when there is none */
export function readToken(file: string): string {
  const token = readFileSync(file, 'utf8').trim();
  if (token === '') throw new Error(`${file} holds no token`);
  return token;
}

const bearer =
  (token: string): Interceptor =>
  (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start(metadata, listener, next) {
        metadata.set('authorization', `Bearer ${token}`);
        next(metadata, listener);
      },
    });
