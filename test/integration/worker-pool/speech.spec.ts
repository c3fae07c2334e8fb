import { PassThrough, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import {
  alone,
  isReady,
  makePool,
  modelSpec,
  request,
  synthesize,
  workerThat,
} from '../../support/pool-harness.js';
import { aKey } from '../../support/requests.js';

const CHUNK_BYTES = 65_536;

describe('synthesis through the pool', () => {
  let worker: FixtureWorker;
  let pool: WorkerPoolService;
  let workerId: string;

  beforeEach(async () => {
    worker = new FixtureWorker({ kind: 'tts' });
    const address = `127.0.0.1:${await worker.start()}`;
    pool = makePool({ models: [modelSpec({ kind: 'tts', addresses: [address] })] });
    await pool.start();
    workerId = (await workerThat(pool, isReady)).id;
  });

  afterEach(async () => {
    await pool.close();
    worker.stop();
  });

  function speak(text: string, audio?: Writable) {
    const heard = synthesize(text, audio);
    const spoken = request(heard.task);
    return {
      ...heard,
      id: spoken.id,
      call: pool.execute({ workerId, request: spoken, group: alone }),
    };
  }

  it('tells the header, pipes all audio, ends the sink and answers with duration and execution', async () => {
    const sink = new PassThrough();
    const { headers, call } = speak(script.chunks(20), sink);
    let bytes = 0;
    sink.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await finished(sink);
    expect(headers).toEqual([{ contentType: 'audio/wav', sampleRate: 24_000 }]);
    expect(bytes).toBe(20 * CHUNK_BYTES);
    await expect(call.reply).resolves.toMatchObject({
      kind: 'speech',
      durationS: 1.5,
      execution: { batchSize: 1 },
    });
  });

  it('a listener that takes nothing holds the worker back instead of filling memory', async () => {
    const taken = new PassThrough({ highWaterMark: CHUNK_BYTES });
    const { call } = speak(script.chunks(500), taken);
    let before = -1;
    // At rest: the worker could not write another chunk during 20 probes of its health.
    for (let still = 0; still < 20; still = worker.chunksWritten === before ? still + 1 : 0) {
      before = worker.chunksWritten;
      await new Promise(resolve => setTimeout(resolve, 5));
    }
    expect(worker.chunksWritten).toBeLessThan(200);
    taken.resume();
    await expect(call.reply).resolves.toMatchObject({ kind: 'speech' });
    expect(worker.chunksWritten).toBe(500);
  });

  it('a failure rejects and leaves the sink open for its owner', async () => {
    const sink = new PassThrough().resume();
    const { call } = speak(script.fail('voice_not_found'), sink);
    await expect(call.reply).rejects.toMatchObject({ code: 'voice_not_found' });
    await call.finished;
    expect(sink.writableEnded).toBe(false);
    expect(sink.destroyed).toBe(false);
  });

  it('a listener that goes away frees the worker: the rest is thrown away and the slot comes back', async () => {
    const sink = new PassThrough({ highWaterMark: CHUNK_BYTES });
    const { call } = speak(script.chunks(300), sink);
    sink.once('readable', () => sink.destroy());
    await call.finished;
    expect(worker.chunksWritten).toBe(300);
    await expect(call.reply).rejects.toMatchObject({ code: 'request_cancelled' });
  });

  it('a cancel frees a worker that waits for a listener who takes nothing', async () => {
    const { id, call } = speak(script.chunks(300), new PassThrough({ highWaterMark: 1 }));
    await pool.cancel(workerId, aKey(id), 'client');
    await call.finished;
    await expect(call.reply).rejects.toMatchObject({ code: 'request_cancelled' });
  });

  it('a sink that throws at the header fails its own request, with that error', async () => {
    const { task } = synthesize(script.chunks(3), new PassThrough().resume());
    const sink = {
      ...task.sink,
      header: () => {
        throw new TypeError('headers already sent');
      },
    };
    const call = pool.execute({
      workerId,
      request: request({ ...task, sink }),
      group: alone,
    });
    await expect(call.reply).rejects.toMatchObject({
      code: 'internal_error',
      message: 'headers already sent',
    });
    await call.finished;
  });

  it('a sink that fails ends its own request only', async () => {
    const broken = new Writable({
      write: (_chunk, _encoding, done) => done(new Error('EPIPE')),
    });
    const first = speak(script.chunks(3), broken);
    const second = speak(script.chunks(3), new PassThrough().resume());
    await expect(first.call.reply).rejects.toMatchObject({ code: 'request_cancelled' });
    await expect(second.call.reply).resolves.toMatchObject({ kind: 'speech' });
    await Promise.all([first.call.finished, second.call.finished]);
  });

  it('a worker that dies in the middle of the audio is worker_lost', async () => {
    const sink = new PassThrough().resume();
    const { call } = speak(script.chunks(2).replace('chunks', 'hold'), sink);
    await worker.arrivals(1);
    worker.stop();
    await expect(call.reply).rejects.toMatchObject({ code: 'worker_lost' });
    await call.finished;
    expect(sink.writableEnded).toBe(false);
  });
});
