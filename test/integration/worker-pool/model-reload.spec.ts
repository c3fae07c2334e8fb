import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { formOf } from '../../support/form-of.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { expectError, GatewayRig } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';

describe('reading the models file again', () => {
  let folder: string;
  let rig: GatewayRig;
  let workers: FixtureWorker[];
  beforeEach(() => {
    folder = temporaryFolder();
    workers = [];
  });
  afterEach(async () => {
    for (const worker of workers) worker.releaseAll();
    await rig.close();
    for (const worker of workers) worker.stop();
  });

  async function worker(model: string): Promise<{ machine: FixtureWorker; address: string }> {
    const machine = new FixtureWorker({ model, maxBatch: 1, maxConcurrent: 1 });
    workers.push(machine);
    return { machine, address: `127.0.0.1:${await machine.start()}` };
  }

  const file = () => join(folder, 'models.yaml');
  const entry = (id: string, address: string, aliases: readonly string[] = []) => ({
    ...{
      id,
      aliases,
      kind: 'stt',
      engine: 'synthetic',
      capabilities: ['transcribe', 'prompt'],
    },
    addresses: [address],
  });
  const write = (...models: readonly object[]) => writeFileSync(file(), JSON.stringify({ models }));
  const reload = async () => {
    const response = await rig.post('/admin/v1/models/reload', {});
    return [response.status, await response.json()];
  };

  async function start(address: string): Promise<void> {
    const capabilities = ['transcribe', 'prompt'];
    const models = [sttModel({ capabilities, addresses: [address], languages: [] })];
    rig = await GatewayRig.start({
      models,
      settings: { 'workers.models_file': file() },
    });
    await rig.ready('stt');
  }

  const transcribe = (model: string, prompt = '') =>
    rig.post('/v1/audio/transcriptions', formOf({ model, prompt }, Buffer.alloc(100)));

  it('serves a new model without a restart, and an alias that moved to it', async () => {
    const [old, fresh] = [await worker('stt'), await worker('fresh')];
    await start(old.address);
    write(entry('stt', old.address), entry('fresh', fresh.address, ['whisper-1']));
    expect(await reload()).toEqual([200, { added: ['fresh'], changed: [], removed: [] }]);
    expect((await transcribe('whisper-1')).headers.get('x-switchyard-model')).toBe('fresh');
    expect([old.machine.received.length, fresh.machine.received.length]).toEqual([0, 1]);
    expect((await transcribe('stt')).status).toBe(200);
  });

  it('a model whose entry changed ends its work on the old workers, and goes on with the new ones', async () => {
    const [old, fresh] = [await worker('stt'), await worker('stt')];
    await start(old.address);
    const running = [transcribe('stt', script.hold), transcribe('stt', script.hold)];
    await old.machine.arrivals(2);
    const waiting = transcribe('stt');
    write(entry('stt', fresh.address));
    expect(await reload()).toEqual([200, { added: [], changed: ['stt'], removed: [] }]);
    expect(fresh.machine.received).toEqual([]);
    old.machine.releaseAll();
    expect((await Promise.all([...running, waiting])).map(({ status }) => status)).toEqual([
      200, 200, 200,
    ]);
    expect(fresh.machine.received).toHaveLength(1);
  });

  it('a model that is gone finishes what runs; what waits gets 503 model_unloaded, new requests 404', async () => {
    const old = await worker('stt');
    await start(old.address);
    const running = [transcribe('stt', script.hold), transcribe('stt', script.hold)];
    await old.machine.arrivals(2);
    const waiting = transcribe('stt');
    while (Number(await rig.metric('scheduler_queue_depth{priority="batch",model="stt"}')) !== 1);
    write();
    expect(await reload()).toEqual([200, { added: [], changed: [], removed: ['stt'] }]);
    await expectError(waiting, {
      status: 503,
      code: 'model_unloaded',
    });
    await expectError(transcribe('stt'), {
      status: 404,
      code: 'model_not_found',
    });
    old.machine.releaseAll();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('a file with errors changes nothing, and each is named with its place', async () => {
    const old = await worker('stt');
    await start(old.address);
    write({ ...entry('stt', old.address), kind: 'sst' });
    await expectError(rig.post('/admin/v1/models/reload', {}), {
      ...{ status: 400, code: 'models_file_invalid' },
      message: expect.stringMatching(
        /models\.yaml:1:\d+ {2}models\[0\]\.kind = "sst": must be one of stt.*mean stt/,
      ),
    });
    expect((await transcribe('whisper-1')).status).toBe(200);
  });
});
