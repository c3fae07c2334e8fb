import { mkdir, open, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readArchive, writeArchive } from '../../../src/cli/operate/backup/backup-archive.js';
import { addApiKey } from '../../../src/platform/auth/keys-file.js';
import { KEY_SCOPES } from '../../../src/platform/auth/principal.js';
import { environmentName, type SettingPath } from '../../../src/platform/config/settings.js';
import { formOf } from '../../support/form-of.js';
import { GatewayProcess } from '../../support/gateway-process.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/waiting.js';
import { CommandRun, runHere } from './command-run.js';

const LLM = syntheticModel(
  { baseMs: 2, perItemMs: 1 },
  { id: 'llm', kind: 'llm', capabilities: ['chat', 'completions'] },
);
const SLOW_LINES = 400;
const signal = new AbortController().signal;

/** A gateway's folder, and the settings that a command for it gets. */
class Place {
  readonly folder = temporaryFolder();
  readonly settings = {
    'data.dir': join(this.folder, 'data'),
    'workers.models_file': join(this.folder, 'models.yaml'),
    'auth.keys_file': join(this.folder, 'keys.yaml'),
  };

  environment(more: Partial<Record<SettingPath, string>> = {}): Record<string, string> {
    const settings = Object.entries({ ...this.settings, ...more });
    return Object.fromEntries(settings.map(([path, value]) => [environmentName(path), value]));
  }

  run(args: readonly string[], more: Partial<Record<SettingPath, string>> = {}) {
    return runHere(args, this.environment(more));
  }

  start(): Promise<GatewayProcess> {
    const settings = { ...this.settings, 'batch.embedded': 'true' };
    return GatewayProcess.start([LLM], settings, { folder: this.folder });
  }
}

/** What one caller asks of a gateway. */
class Caller {
  constructor(
    private readonly port: number,
    private readonly key: string,
  ) {}

  async call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.key}`);
    if (typeof init.body === 'string') headers.set('content-type', 'application/json');
    return fetch(`http://127.0.0.1:${this.port}${path}`, { ...init, headers });
  }

  async json<T>(path: string, body?: object, headers = {}): Promise<T> {
    const answer = await this.call(
      path,
      body && { method: 'POST', body: JSON.stringify(body), headers },
    );
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  async upload(text: string, purpose = 'user_data'): Promise<string> {
    const answer = await this.call('/v1/files', {
      method: 'POST',
      body: formOf({ purpose }, text, 'lines.jsonl'),
    });
    return ((await answer.json()) as { id: string }).id;
  }

  async batch(lines: number): Promise<string> {
    const text = Array.from({ length: lines }, (_, index) =>
      JSON.stringify({
        custom_id: `line-${index}`,
        method: 'POST',
        url: '/v1/chat/completions',
        body: { model: 'llm', messages: [{ role: 'user', content: `number ${index}` }] },
      }),
    ).join('\n');
    const file = await this.upload(text, 'batch');
    const fields = { input_file_id: file, endpoint: '/v1/chat/completions' };
    const order = { ...fields, completion_window: '24h' };
    return (await this.json<{ id: string }>('/v1/batches', order)).id;
  }

  async output(batch: string): Promise<string[]> {
    await until(async () => {
      const { status } = await this.json<{ status: string }>(`/v1/batches/${batch}`);
      return status === 'completed';
    });
    const { output_file_id: file } = await this.json<{ output_file_id: string }>(
      `/v1/batches/${batch}`,
    );
    const text = await (await this.call(`/v1/files/${file}/content`)).text();
    return text.trim().split('\n');
  }
}

describe('backup and restore', () => {
  const first = new Place();
  const second = new Place();
  const archive = join(first.folder, 'switchyard.tar');
  const files = new Map<string, string>();
  const responses = new Map<string, string>();
  let owner: string;
  let shopKey: { readonly id: string; readonly secret: string };
  let running: GatewayProcess;
  let restored: GatewayProcess;
  let finishedBatch: string;
  let finishedLines: string[];
  let runningBatch: string;
  /** What was answered when the backup began. */
  let knownFiles: readonly string[];
  let knownResponses: readonly string[];

  beforeAll(async () => {
    owner = addApiKey(first.settings['auth.keys_file'], {
      tenant: 'ops',
      scopes: KEY_SCOPES,
    }).key;
    running = await first.start();
    const root = new Caller(running.port, owner);
    const wanted = { name: 'shop', tenant: 'acme', scopes: ['inference'] };
    shopKey = await root.json('/admin/v1/keys', wanted);
    const shop = new Caller(running.port, shopKey.secret);
    finishedBatch = await shop.batch(5);
    finishedLines = await shop.output(finishedBatch);
    const upload = async (n: number) => {
      const text = `${n} `.repeat(2000);
      files.set(await shop.upload(text), text);
    };
    const respond = async (n: number) => {
      const { id } = await shop.json<{ id: string }>('/v1/responses', {
        model: 'llm',
        input: `say ${n}`,
      });
      responses.set(id, `say ${n}`);
    };
    for (let n = 0; n < 10; n += 1) await Promise.all([upload(n), respond(n)]);
    runningBatch = await shop.batch(SLOW_LINES);

    let isOver = false;
    const traffic = [upload, respond, upload, respond].map(async (send, caller) => {
      for (let n = 0; !isOver; n += 1) await send(1000 * caller + n);
    });
    knownFiles = [...files.keys()];
    knownResponses = [...responses.keys()];
    const { code, stderr, stdout } = await new CommandRun(['backup', archive], first.environment())
      .ended;
    isOver = true;
    await Promise.all(traffic);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `${archive}\n`,
      stderr: expect.stringMatching(/100 % of .*\n.*\d+ files, .* database at 0\d\d-/s),
    });
    expect(files.size).toBeGreaterThan(knownFiles.length);
  });

  afterAll(async () => {
    await running?.[Symbol.asyncDispose]();
    await restored?.[Symbol.asyncDispose]();
  });

  it('makes an archive for this user alone, and leaves nothing else', async () => {
    expect((await stat(archive)).mode & 0o777).toBe(0o600);
    expect(await readdir(first.folder)).not.toContain('switchyard.tar.unfinished');
    const left = (await readdir(first.settings['data.dir'])).filter(name => name.startsWith('.'));
    expect(left).toEqual([]);
    const { code, stderr } = await first.run(['backup', archive]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('exists; name another file')]);
  });

  it('refuses a data folder that is in use, also with --force', async () => {
    const { code, stderr } = await first.run(['restore', archive, '--force']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is in use: stop the gateway')]);
  });

  it('under traffic: a second gateway serves files, batches, keys and stored responses', async () => {
    const { code, stderr } = await second.run(['restore', archive]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    restored = await second.start();
    const shop = new Caller(restored.port, shopKey.secret);
    for (const id of knownFiles) {
      const text = await (await shop.call(`/v1/files/${id}/content`)).text();
      expect(text).toBe(files.get(id));
    }
    for (const id of knownResponses) {
      const { object, status } = await shop.json<Record<string, string>>(`/v1/responses/${id}`);
      expect([object, status]).toEqual(['response', 'completed']);
    }
    expect(await shop.output(finishedBatch)).toEqual(finishedLines);
    const keys = await new Caller(restored.port, owner).json<{ data: { id: string }[] }>(
      '/admin/v1/keys',
    );
    expect(keys.data.map(({ id }) => id)).toContain(shopKey.id);
  });

  it('each file that the restored database names has its bytes', async () => {
    const shop = new Caller(restored.port, shopKey.secret);
    const { data } = await shop.json<{ data: { id: string; bytes: number }[] }>(
      '/v1/files?limit=10000',
    );
    expect(data.length).toBeGreaterThanOrEqual(knownFiles.length);
    for (const { id, bytes } of data) {
      const content = await (await shop.call(`/v1/files/${id}/content`)).arrayBuffer();
      expect([id, content.byteLength]).toEqual([id, bytes]);
    }
  });

  it('a batch that ran meanwhile is finished by the second gateway, each line once', async () => {
    const shop = new Caller(restored.port, shopKey.secret);
    const lines = await shop.output(runningBatch);
    const ids = lines.map(line => (JSON.parse(line) as { custom_id: string }).custom_id);
    expect(new Set(ids).size).toBe(SLOW_LINES);
    expect(ids).toHaveLength(SLOW_LINES);
  });

  it('takes the place of a database that SQLite cannot read, with --force; backup says that it cannot', async () => {
    const place = new Place();
    await mkdir(place.settings['data.dir']);
    await writeFile(join(place.settings['data.dir'], 'switchyard.db'), 'damaged '.repeat(1000));
    const refused = await place.run(['backup', join(place.folder, 'none.tar')]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('cannot be read')]);
    expect(await readdir(place.folder)).toEqual(['data']);
    const { code, stderr } = await place.run(['restore', archive, '--force']);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
  });

  it('refuses a data folder that is not empty; with --force what was there is moved aside', async () => {
    const place = new Place();
    await mkdir(place.settings['data.dir']);
    await writeFile(join(place.settings['data.dir'], 'models.yaml'), 'models: []\n');
    const refused = await place.run(['restore', archive]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is not empty')]);
    expect(await readdir(place.settings['data.dir'])).toEqual(['models.yaml']);
    const forced = await place.run(['restore', archive, '--force']);
    expect([forced.code, forced.stderr]).toEqual([0, expect.any(String)]);
    const held = await readdir(place.settings['data.dir']);
    expect(held).toEqual(expect.arrayContaining(['blobs', 'switchyard.db']));
    const aside = held.find(name => name.startsWith('replaced-'))!;
    expect(await readdir(join(place.settings['data.dir'], aside))).toEqual(['models.yaml']);
  });

  it.each([
    [
      'one byte is another',
      /is damaged or no backup/,
      async (path: string, bytes: number) => {
        await using file = await open(path, 'r+');
        await file.write(Buffer.from('?'), 0, 1, Math.floor(bytes / 2));
      },
    ],
    [
      'it is cut off',
      /is damaged or no backup/,
      (path: string, bytes: number) => truncate(path, bytes / 2),
    ],
    [
      'it is no archive',
      /is damaged or no backup/,
      (path: string) => writeFile(path, 'hello '.repeat(200)),
    ],
  ])('writes nothing where %s', async (_, words, damage) => {
    const place = new Place();
    const copy = join(place.folder, 'copy.tar');
    await writeFile(copy, await readFile(archive));
    await damage(copy, (await stat(copy)).size);
    const { code, stderr } = await place.run(['restore', copy]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(words)]);
    expect(await readdir(place.folder)).toEqual(['copy.tar']);
  });

  it('refuses the database of a newer release, in words that protect it', async () => {
    const place = new Place();
    const newer = join(place.folder, 'newer.tar');
    const manifest = await readArchive(
      archive,
      async (_, bytes) => {
        for await (const chunk of bytes) expect(chunk.byteLength).toBeGreaterThan(0);
      },
      signal,
    );
    const head = { ...manifest, schema: '999-of-the-future', not_included: [] };
    await writeArchive(newer, head, [], () => undefined, signal);
    const { code, stderr } = await place.run(['restore', newer]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/newer release: it has the migration 999-of-the-future/);
    expect(stderr).toMatch(/It is not damaged, and nothing was changed/);
    expect(await readdir(place.folder)).toEqual(['newer.tar']);
  });

  it('says what it leaves to pg_dump and to the bucket', async () => {
    const { folder } = first;
    const { code, stderr } = await first.run(['backup', join(folder, 'rest.tar')], {
      'database.url': 'postgres://db/switchyard',
    });
    expect([code, stderr]).toEqual([0, expect.stringContaining('use pg_dump')]);
    const second = await new Place().run(['restore', join(folder, 'rest.tar')]);
    expect([second.code, second.stderr]).toEqual([2, expect.stringContaining('pg_restore')]);
  });
});
