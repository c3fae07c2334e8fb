import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MIGRATIONS } from '../../src/platform/database/migrations.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';

/**
 * Written by the release whose last migration was 003: a finished batch of two lines, and
 * one of ten that was stopped in the middle. It is never made anew: that data of the past
 * can be read is what is tested.
 */
const WRITTEN_BEFORE = 'test/fixtures/data-schema-003';
const FAR_MS = Date.parse('2100-01-01');

interface Batch {
  readonly id: string;
  readonly status: string;
  readonly output_file_id: string;
  readonly request_counts: {
    readonly total: number;
    readonly completed: number;
    readonly failed: number;
  };
  readonly metadata: Record<string, string>;
}

describe('a data folder of the previous schema', () => {
  let folder: string;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    folder = temporaryFolder();
    await cp(WRITTEN_BEFORE, join(folder, 'data'), { recursive: true });
    const db = new DatabaseSync(join(folder, 'data/switchyard.db'));
    // Nothing else is changed: batches and files of then would have expired by now.
    for (const table of ['batches', 'files'])
      db.exec(`update ${table} set expires_at_ms = ${FAR_MS}`);
    db.close();
    const model = syntheticModel(
      { dimensions: 4 },
      { kind: 'embedding', capabilities: ['embeddings'] },
    );
    gateway = await GatewayProcess.start([model], { 'batch.embedded': 'true' }, { folder });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const get = (path: string) => fetch(`http://127.0.0.1:${gateway.port}/v1${path}`);
  const list = async <T>(path: string) => ((await (await get(path)).json()) as { data: T[] }).data;
  const lines = async (file: string) =>
    (await (await get(`/files/${file}/content`)).text())
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { custom_id: string; response: { status_code: number } });

  it('gets every migration that came since', () => {
    const db = new DatabaseSync(join(folder, 'data/switchyard.db'), { readOnly: true });
    const names = db.prepare('select name from kysely_migration order by name').all();
    db.close();
    expect(names.map(({ name }) => name)).toEqual(Object.keys(MIGRATIONS).sort());
  });

  it('finishes the batch that was stopped, each line once; lists and serves what was finished then', async () => {
    const batches = await list<Batch>('/batches');
    expect(batches.map(({ metadata }) => metadata)).toEqual(
      Array(2).fill({ made: 'by the previous version' }),
    );
    const [stopped, finished] = batches as [Batch, Batch];
    expect(finished).toMatchObject({
      status: 'completed',
      request_counts: { total: 2, completed: 2 },
    });
    expect((await lines(finished.output_file_id)).map(({ custom_id: id }) => id)).toEqual([
      'line-1',
      'line-2',
    ]);

    let batch = stopped;
    for (
      ;
      !['completed', 'failed', 'expired', 'cancelled'].includes(batch.status);
      await pause(100)
    )
      batch = (await (await get(`/batches/${stopped.id}`)).json()) as Batch;
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 10, completed: 10, failed: 0 },
    });
    const answers = await lines(batch.output_file_id);
    const ids = Array.from({ length: 10 }, (_, at) => `line-${at + 1}`);
    expect(answers.map(({ custom_id: id }) => id).sort()).toEqual(ids.sort());
    expect(answers.every(({ response }) => response.status_code === 200)).toBe(true);
  });

  it('keeps every file: inputs, and results of then and of now', async () => {
    const files = await list<{ id: string; purpose: string }>('/files');
    expect(files.map(({ purpose }) => purpose).sort()).toEqual([
      'batch',
      'batch',
      'batch_output',
      'batch_output',
    ]);
    for (const { id } of files) expect((await get(`/files/${id}/content`)).status).toBe(200);
    expect(await readdir(join(folder, 'data'))).toContain('switchyard.db');
  });
});
