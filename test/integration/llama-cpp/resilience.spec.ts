import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { LlamaBackend } from '@switchyard/engine-llama-cpp/backend.js';
import {
  GREEDY,
  llamaBackend,
  LlamaHarness,
  soloTokens,
  textSequence,
} from '../../support/llama-harness.js';
import { llamaModel } from '../../support/llama-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/waiting.js';

const LOADED = ['--import', resolve('test/support/typescript-loader.mjs')];
const SEEDED = { ...GREEDY, temperature: 1, seed: 5 };

describe('the llama.cpp process', () => {
  let backend: LlamaBackend;
  afterEach(() => backend.close());

  it('is killed when it hangs, and the text goes on in another one', async () => {
    backend = await llamaBackend({ stepTimeoutMs: 2000 });
    const prompt = await backend.encode({ type: 'text', text: 'hang' });
    const sequence = textSequence(prompt, { sampling: SEEDED });
    const [solo] = await soloTokens(backend, [sequence]);
    const hung = backend.pid!;
    const harness = new LlamaHarness(backend);
    harness.submit(sequence, textSequence(prompt, { tenant: 'b' }));
    await harness.drain(step => void (step === 5 && process.kill(hung, 'SIGSTOP')));
    expect(harness.tokensOf(sequence)).toEqual(solo);
    expect(backend.pid).not.toBe(hung);
  });

  it('is opened again by whoever encodes, when it died while nobody spoke', async () => {
    backend = await llamaBackend();
    const text = { type: 'text', text: 'all quiet' } as const;
    const before = await backend.encode(text);
    process.kill(backend.pid!, 'SIGKILL');
    const twice = await Promise.all([backend.encode(text), backend.encode(text)]);
    expect(twice).toEqual([before, before]);
  });

  it('fails who kills it alone, and nobody beside', async () => {
    backend = await llamaBackend();
    const prompt = await backend.encode({ type: 'text', text: 'crash' });
    const [bad, good] = [textSequence(prompt), textSequence(prompt, { tenant: 'b' })];
    const [solo] = await soloTokens(backend, [good]);
    const killer = new Proxy(backend, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (name !== 'run')
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        return (plan: Parameters<LlamaBackend['run']>[0]) => {
          const isIn = [...plan.decode, ...plan.prefill].some(
            ({ request, position }) => request === bad && position > 8,
          );
          if (isIn) process.kill(target.pid!, 'SIGKILL');
          return target.run(plan);
        };
      },
    });
    const harness = new LlamaHarness(killer);
    harness.submit(bad, good);
    await harness.drain();
    expect(harness.played.get(bad)!.end).toMatchObject({ type: 'failed' });
    expect(harness.tokensOf(good)).toEqual(solo);
  });

  it('ends when the process that started it is killed', async () => {
    backend = new LlamaBackend({} as never);
    const entry = pathToFileURL('packages/engine-llama-cpp/backend.ts').href;
    const options = {
      ...{
        modelFile: await llamaModel(),
        device: 'cpu',
        contextTokens: 64,
        rows: 1,
        stepTokens: 16,
        threads: 1,
        batchThreads: 1,
      },
      ...{ stepTimeoutMs: 60_000, loadTimeoutMs: 60_000 },
    };
    const script = `const { LlamaBackend } = await import('${entry}');
      const backend = new LlamaBackend(${JSON.stringify(options)});
      await backend.load();
      process.stdout.write(String(backend.pid));
      setInterval(() => undefined, 1000);`;
    const parent = spawn(process.execPath, [...LOADED, '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(said.toString());
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await until(() => !isAlive(pid));
  });

  it('says what is missing when the file is no model, or is not there', async () => {
    backend = new LlamaBackend({ ...(await optionsOf('package.json')) });
    await expect(backend.load()).rejects.toThrow(/gguf/i);
    const absent = new LlamaBackend({ ...(await optionsOf('absent.gguf')) });
    await expect(absent.load()).rejects.toThrow(/absent\.gguf/);
    await absent.close();
  });

  it('says that a file is incomplete, as after half a download', async () => {
    const folder = temporaryFolder();
    const half = join(folder, 'half.gguf');
    const bytes = await readFile(await llamaModel());
    await writeFile(half, bytes.subarray(0, bytes.length / 2));
    backend = new LlamaBackend({ ...(await optionsOf(half)) });
    await expect(backend.load()).rejects.toThrow(
      /half\.gguf cannot be loaded: tensor .* is corrupted or incomplete$/,
    );
  });

  it('names the package to install for a device that is not there', async () => {
    const before = process.env.npm_command;
    process.env.npm_command = 'exec';
    backend = new LlamaBackend({
      ...(await optionsOf(await llamaModel())),
      device: 'vulkan',
    });
    await expect(backend.load()).rejects.toThrow('npx switchyard gpu install llama-cpp-vulkan');
    if (before === undefined) delete process.env.npm_command;
    else process.env.npm_command = before;
  });
});

const optionsOf = (modelFile: string) =>
  Promise.resolve({
    ...{
      modelFile,
      device: 'cpu' as const,
      contextTokens: 64,
      rows: 1,
      stepTokens: 16,
      threads: 1,
      batchThreads: 1,
    },
    ...{ stepTimeoutMs: 60_000, loadTimeoutMs: 60_000, stepTargetMs: 50 },
    ...{ exact: false, sampling: {} },
  });
