import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type StreamConfig, type StreamEvent } from '@switchyard/worker-protocol/call.codec.js';
import { type PriorityQueue } from '../../../src/core/queue/priority-queue.js';
import { IdleUnload } from '../../../src/gateway/scheduler/idle-unload.js';
import { type WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import { type StreamHandle } from '../../../src/worker-client/stream-handle.js';
import { HostedWorkers } from '../../support/hosted-worker.js';
import { alone, isReady, makePool, transcribe, workerThat } from '../../support/pool-harness.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { builtLaunch } from '../api/gateway-rig.js';

let pool: WorkerPoolService;
let hosted: HostedWorkers | undefined;
const stop = async () => {
  await pool.close();
  await hosted?.[Symbol.asyncDispose]();
};

/** Its worker is hosted, unless it is killed. */
async function start(
  options: Record<string, unknown>,
  { killed = false, ...spec }: Partial<ModelSpec> & { readonly killed?: boolean } = {},
) {
  const models = [syntheticModel(options, { id: 'm', ...spec })];
  hosted = killed ? undefined : await HostedWorkers.start(models, settingsFrom({}));
  pool = makePool({ models: hosted?.models ?? models, launch: builtLaunch });
  await pool.start();
  await workerThat(pool, isReady);
}
beforeEach(() => start({ streams: 2 }));
afterEach(stop);

let opened = 0;
const config = (): StreamConfig => ({
  ...{
    sessionId: `s-${++opened}`,
    language: '',
    prompt: '',
    sampleRate: 16_000,
    partials: true,
  },
});
const open = (): StreamHandle => pool.openStream(pool.streamHost('m'), config());
const inUse = (): number => pool.workers()[0]?.streamsInUse ?? 0;

async function heardBy(handle: StreamHandle): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of handle.receiveEvents()) events.push(event);
  return events;
}

describe('a live stream', () => {
  it('sends frames and commits in order and finishes the last utterance when it is closed', async () => {
    const handle = open();
    const heard = heardBy(handle);
    await handle.sendFrame(Buffer.alloc(3200));
    await handle.commit();
    await handle.sendFrame(Buffer.alloc(6400), true);
    await handle.close();
    const finals = (await heard).flatMap(event =>
      event.type === 'final' ? [[event.start, event.end].map(s => Math.round(s * 1000))] : [],
    );
    expect(finals).toEqual([
      [0, 100],
      [100, 300],
    ]);
    expect(inUse()).toBe(0);
  });

  it('takes one of 2 places, apart from file slots, and says when none is left', async () => {
    const { id: workerId, slots } = pool.workers()[0]!;
    const handles = [open(), open()];
    expect(() => open()).toThrow(
      expect.objectContaining({ code: 'queue_full', retryAfterMs: 1000 }),
    );
    expect(pool.workers()[0]!.slots.free).toBe(slots.free);
    const [lease] = pool.lease(workerId, 1);
    const reply = pool.execute({ workerId, request: transcribe(), group: alone });
    await expect(reply.reply).resolves.toMatchObject({ kind: 'transcript' });
    lease!.release();
    await Promise.all(handles.map(handle => handle.cancel()));
    await Promise.all(handles.map(handle => handle.finished));
    expect(inUse()).toBe(0);
  });

  it('ends quietly when it is cancelled, and its place is taken again at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const handles = [open(), open()];
      const heard = handles.map(heardBy);
      await handles[0]!.sendFrame(Buffer.alloc(3200));
      await Promise.all(handles.map(handle => handle.cancel()));
      await Promise.all(heard);
      await Promise.all(handles.map(handle => handle.finished));
    }
    expect(inUse()).toBe(0);
  });

  it('keeps its place until the engine has stopped, however late, and cancel() does not wait for that', async () => {
    await stop();
    const faults = [{ marker: 'LATE', action: 'linger', ms: 500 }];
    await start({ streams: 1, faults });
    for (let round = 0; round < 2; round += 1) {
      const handle = open();
      const events = handle.receiveEvents();
      await handle.sendFrame(Buffer.from('LATE'));
      expect((await events.next()).value).toMatchObject({ type: 'partial' });
      await handle.cancel();
      expect(inUse()).toBe(1);
      expect(() => open()).toThrow(expect.objectContaining({ code: 'queue_full' }));
      await handle.finished;
      expect(inUse()).toBe(0);
    }
  });

  it('tells worker_lost when its worker is killed', async () => {
    await stop();
    await start({ streams: 2 }, { killed: true });
    const handle = open();
    const heard = heardBy(handle);
    await handle.sendFrame(Buffer.alloc(3200));
    process.kill(pool.workers()[0]!.pid!, 'SIGKILL');
    await expect(heard).rejects.toMatchObject({ code: 'worker_lost' });
    expect(() => open()).toThrow(expect.objectContaining({ code: 'no_worker' }));
  });

  it('keeps its model loaded: idle time begins when the last one ends', async () => {
    await stop();
    await start({ streams: 2 }, { idleUnloadS: 0, killed: true });
    const queue = { depthOf: () => ({ realtime: 0, batch: 0, bytes: 0 }) };
    const idle = new IdleUnload(pool, queue as unknown as PriorityQueue);
    const handle = open();
    const heard = heardBy(handle);
    idle.check();
    expect(pool.of('m')?.view()).toMatchObject({
      state: 'loaded',
      running: 1,
      idleMs: 0,
    });
    await handle.sendFrame(Buffer.alloc(3200), true);
    await handle.close();
    expect((await heard).at(-1)?.type).toBe('final');
    expect(pool.of('m')?.view().running).toBe(0);
    idle.check();
    expect(pool.of('m')?.view().state).toBe('unloading');
  });

  it('is not to be had of a model without streams', async () => {
    await stop();
    await start({});
    expect(() => open()).toThrow(expect.objectContaining({ code: 'unsupported_task' }));
  });
});
