import { describe, expect, it } from '@jest/globals';
import { type Dialect } from '../../../contracts/realtime/session-view.js';
import { type ClientSocket } from '../../websockets/client-socket.js';
import { type SessionJournal } from '../journal/session-journal.js';
import { type AdoptedSession, type SentEvent } from '../journal/session-state.js';
import { SessionOutbox } from './session-outbox.js';

/** A client that has read everything when `drain` is called, or at once. */
function client({ reads = true, overfull = false } = {}) {
  const seen: unknown[] = [];
  const drained = Promise.withResolvers<void>();
  if (reads) drained.resolve();
  const socket = {
    open: true,
    overfull,
    drained: () => drained.promise,
    send: (json: string) => seen.push(JSON.parse(json)),
    close: (...given: unknown[]) => seen.push(given),
  };
  return { socket: socket as unknown as ClientSocket & { open: boolean }, seen, drained };
}

interface Options {
  readonly journal?: object;
  readonly adopted?: object;
  readonly dialect?: Dialect;
}
const outboxOf = ({ journal, adopted, dialect = 'ga' }: Options = {}): SessionOutbox =>
  new SessionOutbox(
    { dialect },
    {
      sessionId: 'sess_0123456789abcdef01234567',
      journal: journal as SessionJournal | undefined,
      adopted: adopted as AdoptedSession | undefined,
    },
  );

/** Whether there is room, when all that is due has been done. */
async function isReady(room: Promise<void>): Promise<boolean> {
  const later = new Promise<false>(resolve => setImmediate(() => resolve(false)));
  return Promise.race([room.then(() => true), later]);
}

describe('events of a session', () => {
  it('are numbered from 1, stored, and sent while a client is connected', () => {
    const outbox = outboxOf();
    const { socket, seen } = client();
    outbox.send({ type: 'a' });
    outbox.attach(socket);
    outbox.detach(client().socket);
    outbox.send({ type: 'b' });
    outbox.detach(socket);
    outbox.send({ type: 'c' });
    expect(seen).toEqual([{ type: 'b', event_id: 'event_0123456789ab_2' }]);
    expect(outbox.events.all.map(({ id }) => id.split('_').at(-1))).toEqual(['1', '2', '3']);
    expect(outbox.sent).toBe(3);
  });

  it('that the older dialect has not are not numbered', () => {
    const outbox = outboxOf({ dialect: 'older' });
    outbox.send({ type: 'conversation.item.done' });
    outbox.send({ type: 'conversation.item.added' });
    expect(outbox.events.all.map(({ json }) => JSON.parse(json) as unknown)).toEqual([
      { type: 'conversation.item.created', event_id: 'event_0123456789ab_1' },
    ]);
  });

  it('are sent when the journal has written them', async () => {
    const written: SentEvent[] = [];
    const stopped: boolean[] = [];
    const settled = Promise.withResolvers<void>();
    const outbox = outboxOf({
      journal: {
        event: (event: SentEvent) => written.push(event),
        settled: () => settled.promise,
        stop: (keep: boolean) => stopped.push(keep),
      },
    });
    const { socket, seen } = client();
    outbox.attach(socket);
    outbox.send({ type: 'a' });
    expect(seen).toEqual([]);
    outbox.deliver(written[0]!);
    expect(seen).toHaveLength(1);
    const done = outbox.settled();
    expect(await isReady(done)).toBe(false);
    settled.resolve();
    await done;
    outbox.end(true);
    expect(stopped).toEqual([true]);
  });

  it('continue those of another gateway', () => {
    const events = [{ id: 'event_7', json: '{}' }];
    const outbox = outboxOf({ adopted: { state: { sent: 7 }, events } });
    outbox.send({ type: 'a' });
    expect(outbox.events.after('event_7')).toMatchObject([{ id: 'event_0123456789ab_8' }]);
  });

  it('end the connection of a client that does not read them', () => {
    const outbox = outboxOf();
    const { socket, seen } = client({ overfull: true });
    outbox.attach(socket);
    outbox.send({ type: 'a' });
    expect(seen.at(-1)).toEqual([1013, 'events are not being read']);
  });
});

describe('room for a long answer', () => {
  it('is there when a client is connected that reads', async () => {
    const outbox = outboxOf();
    const room = outbox.room();
    expect(await isReady(room)).toBe(false);
    outbox.attach(client().socket);
    expect(await isReady(room)).toBe(true);
    expect(await isReady(outbox.room())).toBe(true);
  });

  it('is not there when the client that did not read is away or has been replaced', async () => {
    const outbox = outboxOf();
    const [slow, lost] = [client({ reads: false }), client({ reads: false })];
    outbox.attach(slow.socket);
    const room = outbox.room();
    expect(await isReady(room)).toBe(false);
    outbox.detach(slow.socket);
    slow.drained.resolve();
    expect(await isReady(room)).toBe(false);
    outbox.attach(lost.socket);
    lost.socket.open = false;
    lost.drained.resolve();
    expect(await isReady(room)).toBe(false);
    outbox.attach(client().socket);
    expect(await isReady(room)).toBe(true);
  });

  it('is there when another client, that reads, has replaced one that did not', async () => {
    const outbox = outboxOf();
    const slow = client({ reads: false });
    outbox.attach(slow.socket);
    const room = outbox.room();
    outbox.attach(client().socket);
    expect(await isReady(room)).toBe(false);
    slow.socket.open = false;
    slow.drained.resolve();
    expect(await isReady(room)).toBe(true);
  });

  it('is not waited for at the end', async () => {
    const outbox = outboxOf();
    const room = outbox.room();
    expect(await isReady(room)).toBe(false);
    const late = outbox.room();
    outbox.end(false);
    expect(await isReady(Promise.all([room, late]).then(() => undefined))).toBe(true);
    expect(await isReady(outbox.room())).toBe(true);
  });
});
