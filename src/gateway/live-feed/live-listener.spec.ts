import { describe, expect, it } from '@jest/globals';
import {
  type LiveDelta,
  type LiveRoomName,
  type LiveSnapshot,
} from '../../contracts/events/live-event.js';
import { ANYBODY, type Principal } from '../../platform/auth/principal.js';
import { LiveListener } from './live-listener.js';

/** An outlet whose network the test opens and shuts. */
class Wire {
  readonly sent: string[] = [];
  messages = 0;
  bytes = 0;
  constructor(readonly principal: Principal = ANYBODY) {}
  send(event: string, message: { room: string; seq?: number }): void {
    this.sent.push(`${event} ${message.room} ${message.seq}`);
  }
  pending() {
    return { messages: this.messages, bytes: this.bytes };
  }
}

const delta = (room: LiveRoomName, seq: number): LiveDelta => ({
  room,
  source: 's',
  seq,
  set: {},
});
const latest = (room: LiveRoomName): LiveSnapshot[] => [{ room, source: 's', seq: 99, state: {} }];

describe('LiveListener', () => {
  it('passes deltas on while the client takes them', () => {
    const wire = new Wire();
    const listener = new LiveListener(wire);
    wire.messages = 63;
    listener.send('delta', delta('queue', 1));
    expect([wire.sent, listener.lagging]).toEqual([['delta queue 1'], false]);
  });

  it.each([
    [64, 0],
    [1, 262_144],
  ])('keeps nothing for one with %i messages and %i bytes pending', (messages, bytes) => {
    const wire = Object.assign(new Wire(), { messages, bytes });
    const listener = new LiveListener(wire);
    for (let seq = 1; seq <= 1000; seq++) listener.send('delta', delta('queue', seq));
    expect([wire.sent, listener.lagging]).toEqual([[], true]);
  });

  it('continues with one snapshot per room that changed, when everything before has left, then with deltas', () => {
    const wire = Object.assign(new Wire(), { messages: 64 });
    const listener = new LiveListener(wire);
    for (const room of ['queue', 'workers', 'queue'] as const)
      listener.send('delta', delta(room, 1));
    wire.messages = 1;
    listener.catchUp(latest);
    listener.send('delta', delta('queue', 2));
    expect(wire.sent).toEqual([]);
    wire.messages = 0;
    listener.catchUp(latest);
    listener.send('delta', delta('queue', 100));
    expect(wire.sent).toEqual(['snapshot queue 99', 'snapshot workers 99', 'delta queue 100']);
  });

  it('forgets a room that was left', () => {
    const wire = Object.assign(new Wire(), { messages: 64 });
    const listener = new LiveListener(wire);
    listener.send('delta', delta('queue', 1));
    listener.left('queue');
    expect(listener.lagging).toBe(false);
  });

  it('sees what is for everybody and its own; an admin sees all', () => {
    const acme: Principal = { keyId: 'k', tenant: 'acme', scopes: new Set(['events']) };
    const sees = (principal: Principal) =>
      [undefined, 'acme', 'other'].map(tenant =>
        new LiveListener(new Wire(principal)).sees(tenant),
      );
    expect(sees(acme)).toEqual([true, true, false]);
    expect(sees({ ...acme, scopes: new Set(['admin']) })).toEqual([true, true, true]);
  });
});
