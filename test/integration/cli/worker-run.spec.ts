import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../../support/free-port.js';
import { leftover } from '../../support/leftovers.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { CommandRun } from './command-run.js';

describe('switchyard worker run', () => {
  let folder: string;
  let worker: CommandRun | undefined;

  beforeAll(() => {
    folder = temporaryFolder();
    const entry = {
      id: 'ears',
      kind: 'stt',
      engine: 'synthetic',
      capabilities: ['transcribe'],
    };
    writeFileSync(join(folder, 'models.yaml'), JSON.stringify({ models: [entry] }));
    writeFileSync(join(folder, 'token'), 's3cret');
  });
  afterEach(async () => {
    worker?.child.kill('SIGTERM');
    await worker?.ended;
    worker = undefined;
  });

  const command = (...args: string[]): CommandRun =>
    new CommandRun(['worker', ...args], {
      INIT_CWD: folder,
      SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'models.yaml'),
      SWITCHYARD_DATA_DIR: join(folder, 'data'),
    });

  /** Resolves with the worker's address once it is ready. */
  async function start(...args: string[]): Promise<string> {
    const address = `127.0.0.1:${await freePort()}`;
    const run = (worker = command('run', '--listen', address, ...args));
    leftover(() => Promise.resolve(run.child.kill('SIGTERM')));
    const output: string[] = [];
    await new Promise<void>((resolve, reject) => {
      const read = (chunk: Buffer): void => {
        output.push(chunk.toString());
        if (output.join('').includes('Ready: ')) resolve();
      };
      run.child.stdout?.on('data', read);
      run.child.stderr?.on('data', read);
      run.child.once('exit', () => reject(new Error(output.join(''))));
    });
    return address;
  }

  it.each([
    [
      'an entry of models.yaml, with a token',
      ['--model', 'ears', '--token-file', 'token'],
      ['--token-file', 'token'],
    ],
    [
      'the command line',
      ['--model', 'mine', '--engine', 'synthetic', '--kind', 'stt', '--option', 'baseMs=1'],
      [],
    ],
  ])('starts a worker of %s that serves; SIGTERM drains it', async (_, args, access) => {
    const address = await start(...args);
    const check = await command('check', address, ...access, '--only', 'standard-health').ended;
    expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining('SERVING') });
    worker!.child.kill('SIGTERM');
    expect(await worker!.ended).toMatchObject({ code: 0 });
  });

  it('says what is wrong before it starts anything: 2', async () => {
    const { code, stdout, stderr } = await command('run', '--model', 'eyes').ended;
    expect([code, stdout, stderr]).toEqual([2, '', '✗ --model must be one of ears\n']);
    const missing = await command('run', '--model', 'ears', '--token-file', 'none').ended;
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining('none cannot be read'),
    ]);
    const open = await command('run', '--model', 'ears', '--listen', '0.0.0.0:9000').ended;
    expect([open.code, open.stderr]).toEqual([
      2,
      expect.stringContaining('reaches beyond this machine'),
    ]);
  });
});
