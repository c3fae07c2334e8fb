import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { SupervisorLink } from './supervisor-link.js';

function processOf(connected: boolean) {
  const sent: unknown[] = [];
  const send = (message: unknown, callback: (error: Error | null) => void): boolean => {
    sent.push(message);
    callback(null);
    return true;
  };
  return Object.assign(new EventEmitter(), { connected, send, sent });
}

describe('SupervisorLink', () => {
  it('reports and notices the loss of its supervisor', async () => {
    const ipc = processOf(true);
    const link = new SupervisorLink(ipc);
    let lost = 0;
    link.onLost(() => (lost += 1));
    await link.report({ type: 'listening', port: 5000 });
    ipc.emit('disconnect');
    expect([link.supervised, ipc.sent, lost]).toEqual([
      true,
      [{ type: 'listening', port: 5000 }],
      1,
    ]);
  });

  it('says nothing and waits for nobody when started by hand', async () => {
    const link = new SupervisorLink(new EventEmitter());
    link.onLost(() => undefined);
    await link.report({ type: 'ready' });
    expect(link.supervised).toBe(false);
  });

  it('does not wait for a supervisor that is already gone', async () => {
    const ipc = processOf(true);
    const link = new SupervisorLink(ipc);
    ipc.connected = false;
    await link.report({ type: 'ready' });
    expect(ipc.sent).toEqual([]);
  });
});
