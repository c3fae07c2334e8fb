import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { freePort } from '../support/free-port.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { UpProcess } from '../support/up-process.js';

/** `npm run up` as a person meets it: its words, its exit codes, Ctrl-C. */
describe('npm run up', () => {
  let folder: string;
  let ups: UpProcess[];

  beforeEach(() => {
    folder = temporaryFolder();
    writeFileSync(join(folder, 'models.yaml'), JSON.stringify({ models: [syntheticModel({})] }));
    ups = [];
  });
  afterEach(async () => {
    for (const up of ups) await up.end();
  });

  function start(args: readonly string[], settings: Record<string, string> = {}): UpProcess {
    const up = new UpProcess(args, {
      SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'models.yaml'),
      SWITCHYARD_DATA_DIR: join(folder, 'data'),
      ...settings,
    });
    ups.push(up);
    return up;
  }

  it('says when it is ready and what to try; two Ctrl-C in a row drain it and end with 0', async () => {
    const port = await freePort();
    const up = start(['--no-install', '--port', String(port)]);
    await up.says('Switchyard is ready');
    await up.says('/v1/audio/transcriptions -F file=@recording.mp3 -F model=synthetic');
    await up.says('all are loaded');
    // What it asks its gateway itself, and what only a developer reads.
    expect(up.output).not.toMatch(/"?answered|undefined dependency/);
    expect((await fetch(`http://127.0.0.1:${port}/docs`)).status).toBe(200);
    const workers = (await (await fetch(`http://127.0.0.1:${port}/admin/v1/workers`)).json()) as {
      data: { pid: number }[];
    };

    up.child.kill('SIGINT');
    await up.says('Draining');
    up.child.kill('SIGINT');

    expect(await up.exitCode()).toBe(0);
    expect(workers.data.filter(({ pid }) => isAlive(pid))).toEqual([]);
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
  });

  it('says at once that no model is configured, and how to add one', async () => {
    writeFileSync(join(folder, 'models.yaml'), 'models: []\n');
    const up = start(['--run', '--port', String(await freePort())]);
    await up.says('Ctrl-C drains and stops.');
    expect(up.output).toContain(`no model is configured in ${join(folder, 'models.yaml')}`);
    expect(up.output).toMatch(/ {2}switchyard models add [\w-]+/);
    expect(up.output).not.toContain('-F model=');
    expect(up.output).not.toContain('→ models');
    // What its log says of it stands there only once.
    expect(up.output).not.toContain('`models` is empty');
  });

  it('fetches models beside the gateway where it is asked to, and serves meanwhile', async () => {
    const port = String(await freePort());
    const up = start(['--run', '--port', port, '--models', 'none-such']);
    await up.says('→ models  none-such');
    await up.says('the catalogue has no none-such; closest: ');
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  });

  it('is ready when the first of the starter set speak and hear, while others still arrive', async () => {
    writeFileSync(join(folder, 'models.yaml'), 'models: []\n');
    const starter = (name: string, alias: string, kind: string, capability: string, more = {}) => ({
      ...{ name, summary: `${name} of the test`, licence: 'CC0', aliases: [alias] },
      entry: { kind, engine: 'synthetic', capabilities: [capability], ...more },
    });
    const stuck = { engine: 'external', command: ['sh', '-c', 'exec sleep 600', '{port}'] };
    const catalogue = [
      starter('piper-en-joe', 'tts-1', 'tts', 'speech', { voices: { alloy: 'synthetic' } }),
      starter('moonshine-tiny-en', 'whisper-1', 'stt', 'transcribe', { stand_in: true }),
      starter('whisper-base', 'whisper-1', 'stt', 'transcribe', stuck),
    ];
    writeFileSync(join(folder, 'catalogue.yaml'), JSON.stringify({ catalogue }));
    const port = await freePort();
    const up = start(['--run', '--port', String(port), '--models', 'starter'], {
      SWITCHYARD_HUB_CATALOGUE_FILE: join(folder, 'catalogue.yaml'),
    });
    await up.says('Switchyard is ready');
    const call = (path: string, body: string | FormData, headers = {}): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/v1/audio/${path}`, { method: 'POST', body, headers });
    const speech = { model: 'tts-1', voice: 'alloy', input: 'Every request.' };
    const spoken = await call('speech', JSON.stringify(speech), {
      'content-type': 'application/json',
    });
    const form = new FormData();
    form.set('file', await spoken.blob(), 'hello.mp3');
    form.set('model', 'whisper-1');
    expect([spoken.status, (await call('transcriptions', form)).status]).toEqual([200, 200]);
    await up.says('-F model=whisper-1');
    expect(up.output).toMatch(/is ready when the first models are there[^]*Switchyard is ready/);
    expect(up.output).not.toContain('now whisper-base');
  });

  it('is ready while a model still loads, which it names; then all are loaded', async () => {
    const slow = { id: 'slow', kind: 'stt', engine: 'external', capabilities: ['transcribe'] };
    const command = ['sh', '-c', 'exec sleep 600', '{port}'];
    writeFileSync(
      join(folder, 'models.yaml'),
      JSON.stringify({ models: [syntheticModel({}), { ...slow, command }] }),
    );
    const port = await freePort();
    const up = start(['--run', '--port', String(port)]);
    await up.says('Switchyard is ready');
    await up.says('slow; requests wait until their model is loaded');
    await up.says('-F model=synthetic');
    expect(up.output).not.toContain('all are loaded');
    writeFileSync(join(folder, 'models.yaml'), JSON.stringify({ models: [syntheticModel({})] }));
    await fetch(`http://127.0.0.1:${port}/admin/v1/models/reload`, { method: 'POST' });
    await up.says('all are loaded');
  });

  it('does not wait for a model that has failed', async () => {
    const broken = syntheticModel(
      { modelDir: join(folder, 'none') },
      { id: 'broken', engine: 'sherpa-onnx' },
    );
    writeFileSync(
      join(folder, 'models.yaml'),
      JSON.stringify({ models: [syntheticModel({}), broken] }),
    );
    const up = start(['--run', '--port', String(await freePort())]);
    await up.says('Not every model is ready: failed, as the log says: broken');
  });

  it('shows calls of the models that there are, with the key that they need', async () => {
    const tts = syntheticModel(
      {},
      {
        id: 'voice',
        kind: 'tts',
        capabilities: ['speech'],
        voices: { nova: 'synthetic' },
      },
    );
    const llm = syntheticModel({}, { id: 'talker', kind: 'llm', capabilities: ['chat'] });
    writeFileSync(join(folder, 'models.yaml'), JSON.stringify({ models: [tts, llm] }));
    const up = start(['--run', '--port', String(await freePort())], {
      SWITCHYARD_AUTH_KEY: 'k'.repeat(32),
    });
    await up.says('Ctrl-C drains and stops.');
    expect(up.output).toContain('/v1/audio/speech -H "authorization: Bearer $KEY"');
    expect(up.output).toContain('{"model":"voice","voice":"nova",');
    expect(up.output).toMatch(
      /chat +curl http:\S+\/v1\/chat\/completions -H "authorization: Bearer \$KEY"/,
    );
    expect(up.output).toContain('{"model":"talker","messages":[');
    expect(up.output).not.toContain('/v1/audio/transcriptions');
  });

  it('names the port that is in use, who has it, and how to choose another', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const up = start(['--no-install', '--port', String(port)]);
    expect(await up.exitCode()).toBe(1);
    expect(up.output).toContain(`Port ${port} on 127.0.0.1 is in use by process ${process.pid}: `);
    expect(up.output).toContain(`Stop it with: kill ${process.pid}`);
    expect(up.output).toContain(`npm run up -- --port ${port + 1}`);
    holder.close();
  });

  it('shows every mistake of the configuration instead of starting', async () => {
    const up = start(['--no-install'], {
      SWITCHYARD_SERVER_PROT: '1',
      SWITCHYARD_BATCHING_POLICY: 'best',
    });
    expect(await up.exitCode()).toBe(1);
    expect(up.output).toContain('The configuration has 2 problems');
    expect(up.output).toContain('did you mean SWITCHYARD_SERVER_PORT?');
    expect(up.output).toContain('batching.policy = "best": must be one of adaptive, window, none');
  });

  it('teaches with --help and refuses an unknown option', async () => {
    const help = start(['--help']);
    expect(await help.exitCode()).toBe(0);
    expect(help.output).toContain('--no-install');
    const wrong = start(['--prot', '1']);
    expect(await wrong.exitCode()).toBe(1);
    expect(wrong.output).toContain("Unknown option '--prot'");
  });
});
