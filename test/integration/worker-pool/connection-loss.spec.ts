import { once } from 'node:events';
import {
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { constants } from 'node:http2';
import { type AddressInfo } from 'node:net';
import { credentials, Metadata } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from '@jest/globals';
import { speechToTextDefinition } from '@switchyard/worker-protocol/stt.codec.js';
import { WorkerChannel } from '@switchyard/worker-protocol/worker-channel.js';
import { decodeFailure } from '../../../src/contracts/errors/status.codec.js';

/** A server that speaks HTTP/2 and no gRPC: it ends calls as the test says. */
class RawServer {
  readonly #server: Http2Server = createServer();
  readonly streams: ServerHttp2Stream[] = [];
  readonly sessions: ServerHttp2Session[] = [];

  async start(): Promise<string> {
    this.#server.on('session', session => void this.sessions.push(session));
    this.#server.on('stream', stream => {
      stream.on('error', () => undefined);
      this.streams.push(stream);
      this.#server.emit('call');
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async call(): Promise<{ stream: ServerHttp2Stream; session: ServerHttp2Session }> {
    if (this.streams.length === 0) await once(this.#server, 'call');
    return { stream: this.streams[0]!, session: this.sessions[0]! };
  }

  stop(): void {
    for (const session of this.sessions) session.destroy();
    this.#server.close();
  }
}

const GRPC = { ':status': 200, 'content-type': 'application/grpc' };

describe('how a call ended', () => {
  let server: RawServer;
  let channel: WorkerChannel;
  let losses: boolean[];

  afterEach(() => {
    channel.retire();
    server.stop();
  });

  async function failing(end: (stream: ServerHttp2Stream, session: ServerHttp2Session) => void) {
    server = new RawServer();
    losses = [];
    const limits = {
      maxMessageBytes: 1e6,
      keepaliveTimeMs: 1e6,
      keepaliveTimeoutMs: 1e6,
    };
    const security = {
      credentials: credentials.createInsecure(),
      interceptors: [],
      usesTls: false,
    };
    const address = await server.start();
    channel = new WorkerChannel({ address, limits, security }, pinged => void losses.push(pinged));
    const message = speechToTextDefinition.transcribeFile.requestDeserialize(Buffer.alloc(0));
    const failure = channel
      .unary(callback => channel.stt.transcribeFile(message, new Metadata(), callback))
      .catch((error: unknown) => decodeFailure(error));
    const { stream, session } = await server.call();
    end(stream, session);
    return failure;
  }

  it('a connection that is torn down is lost, though its streams end as cancelled', async () => {
    const failure = await failing((_, session) =>
      session.destroy(undefined, constants.NGHTTP2_CANCEL),
    );
    expect([failure, losses]).toMatchObject([
      { code: 'worker_lost', kind: 'disconnected' },
      [false],
    ]);
  });

  it('"too many pings" is a lost connection, and known as such', async () => {
    const pings = Buffer.from('too_many_pings');
    const failure = await failing((_, session) =>
      session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, pings),
    );
    expect([failure, losses]).toMatchObject([
      { code: 'worker_lost', kind: 'disconnected' },
      [true],
    ]);
  });

  it.each([
    ['1', 'request_cancelled'],
    ['8', 'engine_failed'],
    ['3', 'invalid_value'],
  ])(
    'status %s on a sound connection is the word of the worker, whatever its text',
    async (status, code) => {
      const trailers = {
        ...GRPC,
        'grpc-status': status,
        'grpc-message': 'Call cancelled',
      };
      const failure = await failing(stream => stream.respond(trailers, { endStream: true }));
      expect([failure, losses]).toMatchObject([{ code }, []]);
    },
  );

  it('one stream that is reset on a sound connection is a cancel, and costs nobody else the connection', async () => {
    const failure = await failing(stream => stream.close(constants.NGHTTP2_CANCEL));
    expect([failure, losses]).toMatchObject([{ code: 'request_cancelled' }, []]);
  });
});
