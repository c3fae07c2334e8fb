import { type Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { type FastifyReply } from 'fastify';
import { NEVER } from 'rxjs';
import { type LogRing } from '../../platform/logging/log-ring.js';
import { type WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { AdminLogsController } from './logs.controller.js';

const MOST = 16;
const QUERY = { lines: 2, level: 'info' } as never;

describe('the log', () => {
  const ring = { last: (...asked: unknown[]) => asked, added$: NEVER } as unknown as LogRing;
  const pool = { log: (id: string) => (id === 'w' ? ring : undefined) };
  const logs = new AdminLogsController(ring, pool as unknown as WorkerPoolService);

  const asked = (accept?: string): unknown => {
    let sent: unknown;
    const reply = { headers: () => reply, send: (body: unknown) => (sent = body) };
    logs.logs(QUERY, accept, reply as unknown as FastifyReply);
    return sent;
  };

  it('is listed', () => {
    for (const accept of [undefined, 'application/json'])
      expect(asked(accept)).toEqual({ object: 'list', data: [2, 'info'] });
  });

  it('of a worker is listed by its id', () => {
    expect(logs.worker('w', QUERY)).toEqual({ object: 'list', data: [2, 'info'] });
    expect(() => logs.worker('none', QUERY)).toThrow('This gateway has no worker none.');
  });

  it('is followed by so many readers, and by another one when one has left', async () => {
    const readers = Array.from({ length: MOST }, () => asked('text/event-stream') as Readable);
    expect(() => asked('text/event-stream')).toThrow(`The log has ${MOST} readers already.`);
    readers[0]!.destroy();
    await new Promise(resolve => readers[0]!.once('close', resolve));
    readers.push(asked('text/event-stream') as Readable);
    expect(() => asked('text/event-stream')).toThrow('readers already');
    for (const reader of readers) reader.destroy();
  });
});
