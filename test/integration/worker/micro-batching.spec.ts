import { describe, expect, it } from '@jest/globals';
import { type TranscribeAnswer } from '@switchyard/worker-protocol/stt.codec.js';
import { RequestPriority } from '../../../src/core/request/request-priority.js';
import { SttCaller } from './stt-caller.js';
import { hostedRecognizers, hostedWorker, sttModel } from './worker-process.js';

// A device that stays busy until the request that occupies it is cancelled, noticed at
// every 300 ms.
const HELD = { steps: 2000, faults: [{ marker: 'slow', action: 'slow', ms: 600_000 }] };
const BAD = { marker: 'bad', action: 'fail' };

describe('micro-batching in a real worker', () => {
  const start = hostedRecognizers();

  const answers = async (
    sent: readonly { outcome: Promise<unknown> }[],
  ): Promise<TranscribeAnswer[]> =>
    (await Promise.all(sent.map(({ outcome }) => outcome))) as TranscribeAnswer[];

  it('makes one engine call for 8 calls sent together', async () => {
    const caller = await start({ baseMs: 5 });
    const group = { id: 'group', size: 8 };
    const sent = Array.from({ length: 8 }, (_, n) => caller.send(`r${n}`, { group }));
    const replies = await answers(sent);
    expect(replies.map(({ execution }) => execution.batchSize)).toEqual(Array(8).fill(8));
    expect(new Set(replies.map(({ execution }) => execution.batchId)).size).toBe(1);
    expect(new Set(replies.map(({ transcript }) => transcript.text)).size).toBe(8);
  });

  it('says in its log what it collected and how many succeeded', async () => {
    const options = { baseMs: 5, faults: [BAD] };
    await using worker = await hostedWorker({ model: { ...sttModel, options } });
    const caller = new SttCaller(worker.address);
    const group = { id: 'group', size: 3 };
    await answers(['bad', 'a', 'b'].map(id => caller.send(id, { group })));
    await caller.send('later').outcome;
    caller.close();
    const log = worker.log.join('');
    expect(log).toContain('Batch collected: 3/8 items');
    expect(log).toContain('Micro-batch done: 2/3 succeeded');
  });

  it('takes REALTIME first when the device becomes free', async () => {
    const caller = await start({ ...HELD, maxBatch: 1, baseMs: 50 });
    const order: string[] = [];
    const send = (id: string, priority: RequestPriority) =>
      caller.send(id, { priority }).outcome.then(() => void order.push(id));
    const all = [send('slow', RequestPriority.BATCH)];
    await caller.inFlight(1);
    all.push(send('b1', RequestPriority.BATCH), send('b2', RequestPriority.BATCH));
    await caller.inFlight(3);
    all.push(send('now', RequestPriority.REALTIME));
    await caller.inFlight(4);
    await caller.cancel('slow');
    await Promise.all(all);
    expect(order).toEqual(['slow', 'now', 'b1', 'b2']);
  });
});
