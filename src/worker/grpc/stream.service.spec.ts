import { describe, expect, it } from '@jest/globals';
import { EventOutbox } from './stream.service.js';

/** Sends one event at a time, when told to. */
function gatedOutbox() {
  const sent: number[] = [];
  let open: () => void = () => undefined;
  const outbox = new EventOutbox<number>(async event => {
    await new Promise<void>(resolve => (open = resolve));
    sent.push(event);
  });
  return {
    sent,
    outbox,
    openAll: async (count: number) => {
      for (let i = 0; i < count; i++) {
        open();
        await new Promise<void>(resolve => setImmediate(resolve));
      }
    },
  };
}

describe('EventOutbox', () => {
  it('sends one after another, in order, and is empty when all are sent', async () => {
    const { sent, outbox, openAll } = gatedOutbox();
    for (const event of [1, 2, 3]) outbox.put(event);
    const empty = outbox.empty();
    await openAll(3);
    await empty;
    outbox.put(4);
    await openAll(1);
    expect(sent).toEqual([1, 2, 3, 4]);
  });

  it('has room for 64 waiting events, for the 65th after they are sent', async () => {
    const { sent, outbox, openAll } = gatedOutbox();
    for (let event = 0; event < 64; event++) outbox.put(event);
    await outbox.room();
    outbox.put(64);
    const room = outbox.room().then(() => sent.length);
    await openAll(65);
    expect(await room).toBe(65);
  });

  it('tells a failed sending to whoever asks next, and sends no more', async () => {
    let calls = 0;
    const outbox = new EventOutbox<number>(() =>
      Promise.reject(new Error(`call ${++calls} is gone`)),
    );
    outbox.put(1);
    outbox.put(2);
    await expect(outbox.empty()).rejects.toThrow('call 1 is gone');
    outbox.put(3);
    await expect(outbox.room()).rejects.toThrow('call 1 is gone');
    expect(calls).toBe(1);
  });
});
