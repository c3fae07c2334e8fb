import { expect, it } from '@jest/globals';
import { type RealtimeSession } from './realtime-session.js';
import { type RealtimeSessions } from './realtime-sessions.js';
import { AdminSessionsController } from './sessions.controller.js';

it('an operator sees the live sessions, and ends one after its last words', async () => {
  const left: unknown[] = [];
  const sessionOf = (id: string, detachedAtMs?: number) =>
    ({
      id,
      owner: { tenant: 't' },
      config: { model: 'm' },
      live: true,
      startedAt: 7,
      receivedMs: 1500,
      connection: { detachedAtMs },
      leave: (...given: unknown[]) => Promise.resolve(left.push([id, ...given])),
    }) as unknown as RealtimeSession;
  const sessions = [sessionOf('a'), sessionOf('b', 100)];
  const controller = new AdminSessionsController({
    all: () => sessions,
  } as unknown as RealtimeSessions);
  const shown = { tenant: 't', model: 'm', streaming: true, started_at: 7, audio_seconds: 1.5 };
  expect(controller.list()).toEqual({
    data: [
      { id: 'a', state: 'attached', ...shown },
      { id: 'b', state: 'detached', ...shown },
    ],
  });
  expect(await controller.end('b')).toEqual({ session_id: 'b', ended: true });
  expect(await controller.end('c')).toEqual({ session_id: 'c', ended: false });
  expect(left).toEqual([['b', 1008, 'ended by an operator', 2000]]);
});
