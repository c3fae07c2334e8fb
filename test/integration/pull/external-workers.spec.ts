import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import { type BridgedWorker, workerCare } from '../../../src/platform/config/worker-spec.js';
import { WorkerStream } from '../../../src/worker-client/stream-handle.js';
import { probeWorker } from '../../../src/worker-client/worker-health.js';
import { externalModel, scriptedCommand } from '../../support/external-model.js';
import { linkTo } from '../worker/worker-link.js';
import { PullQueue } from './pull-harness.js';

const care = workerCare(settingsFrom({ 'workers.health_interval_ms': 50 }));

interface Answer {
  readonly id: string;
  readonly bytes: number;
  readonly group: { readonly id: string; readonly size: number };
  readonly together: number;
}

describe('a bridge between the shared queue and a worker in another language', () => {
  let plane: PullQueue;
  const others: ChildProcess[] = [];

  const start = async (model: ModelSpec = externalModel()): Promise<void> => {
    plane = await PullQueue.start({ model });
  };
  const bridge = (bridged: Partial<BridgedWorker> = {}) =>
    plane.spawn({ bridged: { care, ...bridged } });
  const told = (prompt: string) => plane.submit('audio', { fields: { options: { prompt } } });

  async function answer(job: Awaited<ReturnType<typeof told>>): Promise<Answer> {
    const result = await plane.result(job);
    if (result.outcome !== 'completed' || result.value.kind !== 'transcript')
      throw new Error(JSON.stringify(result));
    return JSON.parse((result.value.transcript as { text: string }).text) as Answer;
  }

  afterEach(async () => {
    for (const other of others.splice(0)) other.kill('SIGKILL');
    await plane[Symbol.asyncDispose]();
  });

  it('hands a group on as one group, which is one engine call', async () => {
    await start();
    const jobs = [await told(''), await told(''), await told('')];
    await bridge().told('ready');
    const answers = await Promise.all(jobs.map(answer));
    expect(answers.map(({ together, bytes }) => ({ together, bytes }))).toEqual(
      Array(3).fill({ together: 3, bytes: 5 }),
    );
    const [{ group }] = answers as [Answer];
    expect(group.size).toBe(3);
    expect(answers.map(one => one.group)).toEqual(Array(3).fill(group));
  });

  it('passes on the failure of one, and the answers of its neighbours', async () => {
    await start();
    const jobs = [await told(''), await told('fail audio_too_short'), await told('')];
    await bridge().told('ready');
    const [first, failed, last] = await plane.results(jobs);
    expect([first!.outcome, last!.outcome]).toEqual(['completed', 'completed']);
    expect(failed).toMatchObject({
      outcome: 'failed',
      error: { code: 'audio_too_short' },
    });
  });

  it('lets what runs end at SIGTERM, then ends with its worker', async () => {
    await start();
    const worker = bridge();
    const link = linkTo(await worker.ready());
    const job = await told('sleep 1000');
    await plane.until('it runs', async () => (await probeWorker(link, 'stt', 5000)).inFlight === 1);
    worker.child.kill('SIGTERM');
    expect((await answer(job)).together).toBe(1);
    expect(await worker.exited).toBe(0);
    link.retire();
  });

  it('passes a cancel on: the worker lets go, and takes the next request', async () => {
    await start();
    const worker = bridge();
    const link = linkTo(await worker.ready());
    const held = await told('hold');
    await plane.until('it runs', async () => (await probeWorker(link, 'stt', 5000)).inFlight === 1);
    await plane.stop(held);
    expect((await plane.result(held)).outcome).toBe('cancelled');
    expect((await answer(await told(''))).together).toBe(1);
    link.retire();
  });

  it('ends with the reason when its worker dies; what that held runs again, and twice at most', async () => {
    await start();
    const [poison, innocent] = [await told('crash'), await told('sleep 100')];
    const reasons: unknown[] = [];
    for (const attempt of [1, 2]) {
      const worker = bridge();
      reasons.push((await worker.told('failed')).message);
      expect([attempt, await worker.exited]).toEqual([attempt, 1]);
    }
    await bridge().told('ready');
    expect(reasons).toEqual(Array(2).fill(expect.stringContaining('ended with code 9')));
    expect(await plane.result(poison)).toMatchObject({
      outcome: 'failed',
      error: { code: 'worker_lost' },
    });
    expect(['completed', 'failed']).toContain((await plane.result(innocent)).outcome);
  });

  it('says what it waits for, and why it cannot start', async () => {
    await start(externalModel(['--fault', 'wrong-model']));
    const { messages } = bridge();
    const problem = {
      type: 'waiting',
      message: 'its Health reports model "another"; it must be "m"',
      isProblem: true,
    };
    const isTold = () => messages.some(told => JSON.stringify(told) === JSON.stringify(problem));
    await plane.until('its problem is told', isTold);
    const missing = { ...plane.model, command: ['/nonexistent/python', '{port}'] };
    const worker = plane.spawn({ model: missing, bridged: { care } });
    expect((await worker.told('failed')).message).toBe(
      'cannot start /nonexistent/python: no such program (ENOENT)',
    );
    expect(await worker.exited).toBe(1);
  });

  it('stands before a worker that somebody else runs, and ends when that is gone', async () => {
    const model = externalModel([], { command: undefined });
    await start(model);
    const { child, address } = await scripted();
    const worker = bridge({ address });
    await worker.told('ready');
    expect((await answer(await told(''))).bytes).toBe(5);
    const job = await told('hold');
    await plane.until('it runs', async () => (await plane.queue.getActiveCount()) === 1);
    child.kill('SIGKILL');
    expect((await worker.told('failed')).message).toContain('ECONNREFUSED');
    expect(await worker.exited).toBe(1);
    await plane.until(
      'the job waits again',
      async () => (await plane.queue.getPrioritizedCount()) === 1,
    );
    await job.remove();
  });

  it('carries live streams both ways', async () => {
    await start(externalModel(['--streams', '2'], { capabilities: ['transcribe', 'stream'] }));
    const link = linkTo(await bridge().ready());
    expect(await probeWorker(link, 'stt', 2000)).toMatchObject({
      engine: 'scripted',
      streams: 2,
    });
    const config = {
      sessionId: 's',
      language: 'en',
      prompt: '',
      sampleRate: 16_000,
      partials: false,
    };
    const stream = new WorkerStream({
      config,
      channel: link,
      resetAfterMs: care.stop.resetAfterMs,
      stop: () => undefined,
    });
    await stream.sendFrame(Buffer.alloc(320));
    await stream.commit();
    await stream.sendFrame(Buffer.alloc(640), true);
    const texts: string[] = [];
    for await (const event of stream.receiveEvents())
      if (event.type === 'final') texts.push(event.text);
    expect(texts).toEqual(['320 bytes', '640 bytes']);
    link.retire();
  });

  async function scripted() {
    const [program = '', ...args] = scriptedCommand().map(word =>
      word.replace('{model}', 'm').replace('{host}', '127.0.0.1').replace('{port}', '0'),
    );
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    others.push(child);
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    return { child, address: `127.0.0.1:${line.split(' ').at(-1)}` };
  }
});

describe('a bridge of the other kinds', () => {
  it('puts speech into the blob store', async () => {
    const model = externalModel(['--kind', 'tts'], {
      kind: 'tts',
      capabilities: ['speech'],
    });
    await using plane = await PullQueue.start({ model });
    await plane.spawn({ bridged: { care } }).told('ready');
    const data = {
      v: 1,
      kind: 'speech',
      options: { text: 'Hello.', voice: 'any', format: 'wav' },
    };
    const result = await plane.result(await plane.queue.add('request', data, { priority: 2 }));
    if (result.outcome !== 'completed' || result.value.kind !== 'speech')
      throw new Error(JSON.stringify(result));
    expect(result.value).toMatchObject({ contentType: 'audio/wav', durationS: 1 });
    expect(await plane.blobs.size(result.value.blob)).toBeGreaterThan(20);
  });

  it('answers embeddings', async () => {
    const model = externalModel(['--kind', 'embedding'], {
      kind: 'embedding',
      capabilities: ['embeddings'],
    });
    await using plane = await PullQueue.start({ model });
    await plane.spawn({ bridged: { care } }).told('ready');
    const options = {
      body: JSON.stringify({ model: 'm', input: ['a', 'b'] }),
      inputs: 2,
    };
    const result = await plane.result(
      await plane.queue.add('request', { v: 1, kind: 'embedding', options }),
    );
    if (result.outcome !== 'completed' || result.value.kind !== 'embeddings')
      throw new Error(JSON.stringify(result));
    expect(result.value.dimensions).toBe(2);
    expect(Buffer.from(result.value.vectors, 'base64')).toHaveLength(16);
  });
});
