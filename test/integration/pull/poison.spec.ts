import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PullQueue } from './pull-harness.js';

describe('data that nobody can read', () => {
  let harness: PullQueue;
  beforeAll(async () => {
    harness = await PullQueue.start();
    await harness.worker();
  });
  afterAll(() => harness[Symbol.asyncDispose]());

  const letterOf = async (jobId: string) =>
    (await harness.deadLetters()).find(letter => letter.jobId === jobId);

  it.each([
    ['a list', [1]],
    ['a text', 'x'],
    ['null', null],
    ['a number', 5],
    ['an empty object', {}],
    ['true', true],
    ['a newer version', { v: 2, kind: 'transcription', audio: { blob: 'a' } }],
    ['an unknown kind', { v: 1, kind: 'poetry' }],
    ['an unknown field', { v: 1, kind: 'transcription', audio: { blob: 'a' }, shape: 'round' }],
    ['another model', { v: 1, kind: 'transcription', model: 'other', audio: { blob: 'a' } }],
  ])(
    'goes to the dead letters with its reason and bytes, and the next job is answered: %s',
    async (_title, data) => {
      const job = await harness.queue.add('request', data, { priority: 3 });
      await expect(harness.result(job)).rejects.toThrow('dead letter: ');
      const letter = await letterOf(job.id!);
      expect(letter).toMatchObject({
        v: 1,
        queue: harness.queue.name,
        workerId: 'worker-1',
      });
      expect(letter!.reason).not.toBe('');
      expect(JSON.parse(Buffer.from(letter!.raw, 'base64').toString())).toEqual(data);
      expect(await harness.result(await harness.submit('sound'))).toMatchObject({
        outcome: 'completed',
      });
    },
  );

  it('is kept up to its first 64 KiB, with its whole length', async () => {
    const job = await harness.queue.add('request', 'x'.repeat(8_000_000), {
      priority: 3,
    });
    await expect(harness.result(job)).rejects.toThrow('dead letter: ');
    const { raw, bytes } = (await letterOf(job.id!))!;
    expect([Buffer.from(raw, 'base64').toString(), bytes]).toEqual([
      `"${'x'.repeat(65_535)}`,
      8_000_002,
    ]);
    expect(await harness.result(await harness.submit('sound'))).toMatchObject({
      outcome: 'completed',
    });
  });

  it('is kept byte by byte when it is not even JSON, and when BullMQ cannot read its options', async () => {
    const raw = Buffer.from([0x7b, 0xff, 0x00, 0x22]);
    const base = `test:${harness.queue.name}`;
    await harness.client.hset(`${base}:torn`, {
      name: 'x',
      data: raw,
      opts: '{}',
      timestamp: 1,
      delay: 0,
      priority: 0,
    });
    await harness.client.hset(`${base}:odd`, {
      name: 'x',
      data: '{"v":1}',
      opts: '{"a',
      timestamp: 1,
      delay: 0,
      priority: 0,
    });
    for (const id of ['torn', 'odd'])
      await harness.client.multi().lpush(`${base}:wait`, id).zadd(`${base}:marker`, 0, '0').exec();
    await harness.until(
      'both are put aside',
      async () => !!(await letterOf('torn')) && !!(await letterOf('odd')),
    );
    expect(Buffer.from((await letterOf('torn'))!.raw, 'base64')).toEqual(raw);
    expect(await letterOf('torn')).toMatchObject({ bytes: raw.length });
    expect(await harness.result(await harness.submit('sound'))).toMatchObject({
      outcome: 'completed',
    });
  });
});
