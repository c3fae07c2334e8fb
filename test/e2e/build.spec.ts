import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { describeWith } from '../support/requires.js';
import { SmallDisk } from '../support/small-disk.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const url = (path: string): string => JSON.stringify(pathToFileURL(resolve(path)).href);

/** Runs a module with `folder`, a BuiltFolder, in a process of its own, as `npm run build` does. */
function builds(path: string, script: string): ChildProcess {
  const program = `
    const { BuiltFolder } = await import(${url('scripts/setup/built-folder.mjs')});
    const { runMain } = await import(${url('scripts/setup/report.mjs')});
    const folder = new BuiltFolder(${JSON.stringify(path)});
    await runMain(async () => { ${script} });`;
  return spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

async function outcome(path: string, script: string) {
  const child = builds(path, script);
  const output = Promise.all([text(child.stdout!), text(child.stderr!)]);
  const [code] = (await once(child, 'close')) as [number | null];
  const [stdout, stderr] = await output;
  return { stdout, stderr, code };
}

/** Two files, the second of which names the first. */
const made = (version: string): string =>
  `[{ place: 'chunks/part-${version}.js', contents: '${version}' },
    { place: 'main.js', contents: 'part-${version}' }]`;
const replaceBy = (version: string): string =>
  `await folder.replace('${version}', async () => ${made(version)});`;
const whetherCurrent = (version: string): string => `console.log(folder.isCurrent('${version}'));`;

describe('a folder that is built', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  const files = (): readonly string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => !entry.isDirectory())
      .map(({ name }) => name)
      .sort();

  it('holds what was made last and nothing else', async () => {
    await outcome(folder, replaceBy('one'));
    await outcome(folder, replaceBy('two'));
    expect(files()).toEqual(['.sources', 'main.js', 'part-two.js']);
    expect(readFileSync(join(folder, 'main.js'), 'utf8')).toBe('part-two');
    expect((await outcome(folder, whetherCurrent('two'))).stdout).toBe('true\n');
  });

  it('is not current when a file is missing or the sources are others', async () => {
    await outcome(folder, replaceBy('one'));
    expect((await outcome(folder, whetherCurrent('two'))).stdout).toBe('false\n');
    rmSync(join(folder, 'chunks'), { recursive: true });
    expect((await outcome(folder, whetherCurrent('one'))).stdout).toBe('false\n');
    await outcome(folder, replaceBy('one'));
    expect(files()).toEqual(['.sources', 'main.js', 'part-one.js']);
  });

  it('stays as it was when a build is killed while it compiles, and the next one is not kept', async () => {
    await outcome(folder, replaceBy('one'));
    await outcome(
      folder,
      `await folder.replace('two', () => process.kill(process.pid, 'SIGKILL'));`,
    );
    expect((await outcome(folder, whetherCurrent('one'))).stdout).toBe('true\n');
    expect(await outcome(folder, replaceBy('two'))).toMatchObject({ code: 0, stderr: '' });
    expect(files()).toEqual(['.sources', 'main.js', 'part-two.js']);
  });

  it('is current for neither sources when a build ended between two files', async () => {
    await outcome(folder, replaceBy('one'));
    const breaksOff = `[...${made('two')}, { place: 'chunks', contents: 'a folder is there' }]`;
    const { code } = await outcome(
      folder,
      `await folder.replace('two', async () => ${breaksOff});`,
    );
    expect(code).not.toBe(0);
    expect(readFileSync(join(folder, 'main.js'), 'utf8')).toBe('part-two');
    for (const version of ['one', 'two'])
      expect((await outcome(folder, whetherCurrent(version))).stdout).toBe('false\n');
    await outcome(folder, replaceBy('one'));
    expect(files()).toEqual(['.sources', 'main.js', 'part-one.js']);
  });

  it('is made once by two that come at the same time; the second waits and says so', async () => {
    const slow = `await folder.replace('one', async () => {
      console.log('making');
      await new Promise(go => process.stdin.once('data', go));
      process.stdin.destroy();
      return ${made('one')};
    });`;
    const first = builds(folder, slow);
    await once(first.stdout!, 'data');
    const second = builds(folder, slow);
    const [said] = (await once(second.stderr!, 'data')) as [Buffer];
    expect(said.toString()).toContain(`is being built  waits for process ${first.pid}`);
    first.stdin!.write('go');
    expect(await text(second.stdout!)).toBe('');
    expect(files()).toEqual(['.sources', 'main.js', 'part-one.js']);
  });
});

describeWith({ name: 'permission to mount', present: SmallDisk.canMount(), ofMachine: true })(
  'a folder that cannot be written',
  () => {
    it('says in one line that no space is left, and keeps what it has', async () => {
      using disk = SmallDisk.mount(1);
      await outcome(disk.path, replaceBy('one'));
      const large = `[{ place: 'main.js', contents: Buffer.alloc(2 ** 21) }]`;
      const full = await outcome(disk.path, `await folder.replace('two', async () => ${large});`);
      expect(full.code).toBe(1);
      expect(full.stderr).toMatch(/^✗ .* cannot be written: no space is left; .* \(ENOSPC\)\.\n$/);
      expect((await outcome(disk.path, whetherCurrent('one'))).stdout).toBe('true\n');
      expect(readdirSync(disk.path).sort()).toEqual(['.sources', 'chunks', 'main.js']);
    });

    it('says in one line that it is read-only', async () => {
      using disk = SmallDisk.mount(1);
      await outcome(disk.path, replaceBy('one'));
      execFileSync('mount', ['-o', 'remount,ro', disk.path]);
      const { code, stderr } = await outcome(disk.path, replaceBy('two'));
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /^✗ .* cannot be written: the file system is read-only \(EROFS\)\.\n$/,
      );
    });
  },
);

describe('the built programs', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
    cpSync('dist', join(folder, 'dist'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "version": "0.0.1", "type": "module" }');
  });

  it('have what they need in dist: each part loads where no packages are', async () => {
    const parts = readdirSync(join(folder, 'dist/chunks')).filter(name => name.endsWith('.js'));
    // Every program of Nest has it before all else.
    const script = `await import(${url('node_modules/reflect-metadata/Reflect.js')});
      for (const name of ${JSON.stringify(parts)})
      await import(${JSON.stringify(pathToFileURL(join(folder, 'dist/chunks/')).href)} + name);
      process.exit(0);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    expect(await text(child.stderr)).toBe('');
    expect(parts.length).toBeGreaterThan(20);
  });

  it('name lines of the sources in a stack trace', async () => {
    const breaks = 'process.stdout.write = () => { throw new TypeError("no terminal"); }';
    const args = ['--import', `data:text/javascript,${encodeURIComponent(breaks)}`];
    const child = spawn(process.execPath, [...args, 'dist/main.cli.js', 'config', 'schema']);
    const [, name, file, line] =
      /at (\w+) \((src\/cli\/[\w/.-]+):(\d+):\d+\)/.exec(await text(child.stderr)) ?? [];
    expect(name).toMatch(/^print/);
    const source = readFileSync(file!, 'utf8').split('\n');
    expect(source[Number(line) - 1]).toContain('.write(');
  });
});
