import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { WorkLine } from './work-line.js';

/** Sends one event at a time, when told to. */
function gatedLine() {
  const sent: number[] = [];
  let open: () => void = () => undefined;
  const line = new WorkLine(64);
  const put = (event: number) =>
    line.add(async () => {
      await new Promise<void>(resolve => (open = resolve));
      sent.push(event);
    });
  return {
    sent,
    line,
    put,
    openAll: async (count: number) => {
      await nextTurn();
      for (let i = 0; i < count; i++) {
        open();
        await nextTurn();
      }
    },
  };
}

describe('EventOutbox', () => {
  it('sends one after another, in order, and is empty when all are sent', async () => {
    const { sent, line, put, openAll } = gatedLine();
    for (const event of [1, 2, 3]) put(event);
    const empty = line.done();
    await openAll(3);
    await empty;
    put(4);
    await openAll(1);
    expect(sent).toEqual([1, 2, 3, 4]);
  });

  it('has room for 64 waiting events, for the 65th after they are sent', async () => {
    const { sent, line, put, openAll } = gatedLine();
    for (let event = 0; event < 64; event++) put(event);
    await line.room();
    put(64);
    const room = line.room().then(() => sent.length);
    await openAll(65);
    expect(await room).toBe(65);
  });

  it('tells a failed sending to whoever asks next, and sends no more', async () => {
    let calls = 0;
    const line = new WorkLine();
    const fail = () => Promise.reject(new Error(`call ${++calls} is gone`));
    line.add(fail);
    line.add(fail);
    await expect(line.done()).rejects.toThrow('call 1 is gone');
    line.add(fail);
    await expect(line.room()).rejects.toThrow('call 1 is gone');
    expect(calls).toBe(1);
  });
});
