import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { CommandRun, runHere } from './command-run.js';

const run = (...args: readonly string[]) => runHere(args);

describe('switchyard', () => {
  it('tells its version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      version: string;
    };
    expect(await new CommandRun(['--version']).ended).toMatchObject({
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    });
  });

  it.each([
    '',
    'models',
    'models pull',
    'transcribe',
    'speak',
    'chat',
    'batch',
    'batch submit',
    'doctor',
    'engines install',
    'gpu check',
    'config print',
    'keys create',
  ])('%s --help teaches on stdout and ends with 0', async command => {
    const words = command.split(' ').filter(Boolean);
    const { code, stdout, stderr } = await run(...words, '--help');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(['Usage: switchyard', ...words].join(' '));
  });

  it('ends with 2 for no command at all, with the commands that there are', async () => {
    expect(await run()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('transcribe [options] <file>'),
    });
  });

  it('names the command that was probably meant', async () => {
    expect(await run('transcibe')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('transcribe'),
    });
  });

  describe('file names on the command line', () => {
    let folder: string;
    beforeEach(() => void (folder = temporaryFolder()));
    const runThere = (...args: readonly string[]) => runHere(args, { INIT_CWD: folder });

    it('keys create --file writes into the current folder', async () => {
      expect(
        await runThere('keys', 'create', '--tenant', 'acme', '--file', 'mine.yaml'),
      ).toMatchObject({ code: 0 });
      expect(readFileSync(join(folder, 'mine.yaml'), 'utf8')).toContain('tenant: acme');
    });

    it('models check FILE checks that models file, and ends with 2 when it is wrong', async () => {
      writeFileSync(
        join(folder, 'own.yaml'),
        'models:\n  - { id: own, kind: stt, engine: synthetic, capabilities: [x] }\n',
      );
      expect(await runThere('models', 'check', 'own.yaml')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('own.yaml:2:'),
      });
    });
  });
});
