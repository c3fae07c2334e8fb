import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type HostedWorker } from '../../support/hosted-worker.js';
import { SttCaller } from './stt-caller.js';
import { hostedWorker } from './worker-process.js';

const MIB = 1024 * 1024;

describe('messages to a real worker', () => {
  let worker: HostedWorker;
  let caller: SttCaller;
  beforeAll(async () => {
    worker = await hostedWorker({ maxMessageBytes: 26 * MIB });
    caller = new SttCaller(worker.address);
  });
  afterAll(async () => {
    caller.close();
    await worker[Symbol.asyncDispose]();
  });

  it('of 20 MiB pass', async () => {
    const { outcome } = caller.send('large', { audio: Buffer.alloc(20 * MIB, 1) });
    expect(await outcome).toMatchObject({
      transcript: { text: expect.stringContaining(`${20 * MIB} bytes`) },
    });
  });

  it('over the limit fail alone: callers check the size before they send', async () => {
    const over = caller.send('over', { audio: Buffer.alloc(27 * MIB) });
    const neighbour = caller.send('neighbour');
    expect(await over.outcome).toMatchObject({ code: 'engine_failed' });
    expect(await neighbour.outcome).toMatchObject({ kind: 'transcript' });
  });

  it('carry every option to the engine: each one changes the answer', async () => {
    const audio = Buffer.from('the same audio');
    const changes = [
      {},
      { task: 'translate' },
      { language: 'de' },
      { prompt: 'names' },
      { temperature: 0.5 },
    ] as const;
    const replies = await Promise.all(
      changes.map((change, n) => caller.send(`o${n}`, { audio, ...change }).outcome),
    );
    const texts = replies.map(reply =>
      'transcript' in reply ? reply.transcript.text : reply.message,
    );
    expect(new Set(texts).size).toBe(changes.length);
  });

  it('without a request id are refused', async () => {
    expect(await caller.send('').outcome).toMatchObject({
      code: 'missing_required_parameter',
      param: 'request_id',
    });
  });
});
