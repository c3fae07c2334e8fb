import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { ClusterProcess } from '../support/cluster-process.js';
import { formOf } from '../support/form-of.js';
import { freePort } from '../support/free-port.js';
import { itWith, POSTGRES, REDIS } from '../support/requires.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { type UpOptions, UpProcess } from '../support/up-process.js';
import { pause } from '../support/waiting.js';

const LIMIT_MS = 40_000;

/** @returns those of `pids` that live on after a while; a gate on state, not on time */
async function survivors(pids: readonly number[]): Promise<readonly number[]> {
  for (const endMs = performance.now() + LIMIT_MS; performance.now() < endMs; await pause(25)) {
    if (!pids.some(isAlive)) return [];
  }
  return pids.filter(isAlive);
}

describe('kill -9 of npm run up', () => {
  let folder: string;
  let url: string;

  beforeEach(() => void (folder = temporaryFolder()));

  async function start(options: UpOptions): Promise<UpProcess> {
    const model = syntheticModel({ baseMs: 1500, maxBatch: 1 });
    writeFileSync(join(folder, 'models.yaml'), JSON.stringify({ models: [model] })); // JSON is YAML
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const settings = {
      SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'models.yaml'),
      SWITCHYARD_DATA_DIR: join(folder, 'data'),
      SWITCHYARD_LOGGING_LEVEL: 'info',
    };
    const up = new UpProcess(
      [...(options.npx ? [] : ['--no-install']), '--port', String(port)],
      settings,
      options,
    );
    await up.says('Switchyard is ready');
    return up;
  }

  const json = async <T>(path: string): Promise<T> => (await (await fetch(url + path)).json()) as T;

  /** The gateway's own id is in each of its log lines. */
  async function pidsBehind({ output }: UpProcess): Promise<readonly number[]> {
    const gateway = Number(/"pid":(\d+),"role":"gateway"/.exec(output)?.[1]);
    const { data } = await json<{ data: { pid: number }[] }>('/admin/v1/workers');
    const processor = await json<{ batch_processor: { pid: number } }>('/health');
    return [gateway, ...data.map(({ pid }) => pid), processor.batch_processor.pid];
  }

  function transcribe(): Promise<Response> {
    return fetch(`${url}/v1/audio/transcriptions`, {
      method: 'POST',
      body: formOf({ model: 'synthetic' }, 'clip 0', 'clip.wav'),
    });
  }

  async function untilRunning(): Promise<void> {
    while ((await json<{ total: number }>('/admin/v1/requests?state=running')).total === 0)
      await pause(20);
  }

  it('leaves nothing behind, and lets the gateway answer what it has', async () => {
    const up = await start({});
    const pids = await pidsBehind(up);
    expect(pids.map(isAlive)).toEqual([true, true, true]);
    const answer = transcribe();
    await untilRunning();

    up.child.kill('SIGKILL');

    const settled = await answer;
    expect([settled.status, await settled.json()]).toMatchObject([
      200,
      { text: expect.stringContaining('6 bytes') },
    ]);
    expect(await survivors(pids)).toEqual([]);
  });

  it.each([
    ['npm', 'SIGKILL', { npm: true }],
    ['npx switchyard up', 'SIGTERM', { npx: true }],
  ] as const)('is noticed when it hits %s alone, by %s', async (_, signal, options) => {
    const up = await start(options);
    const pids = await pidsBehind(up);
    up.child.kill(signal);
    expect(await survivors(pids)).toEqual([]);
  });
});

itWith(REDIS, POSTGRES)(
  'kill -9 of a cluster’s command ends its gateways, workers, processors, Redis and PostgreSQL',
  async () => {
    await using cluster = await ClusterProcess.start([syntheticModel({ baseMs: 20, maxBatch: 8 })]);
    const members = cluster.members.map(({ name, pid }) => ({ name, pid: pid! }));
    expect(members.filter(({ pid }) => !isAlive(pid))).toEqual([]);

    await cluster.killLauncher();

    await survivors(members.map(({ pid }) => pid));
    expect(members.filter(({ pid }) => isAlive(pid))).toEqual([]);
  },
  120_000,
);
