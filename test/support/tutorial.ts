import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Requirement } from './requires.js';
import { temporaryFolder } from './temporary-folder.js';

const run = promisify(execFile);

const installed = (name: string): Requirement => ({
  name,
  present: (process.env.PATH ?? '').split(delimiter).some(folder => existsSync(join(folder, name))),
});

/** What the tutorials use besides Switchyard. */
export const TUTORIAL_TOOLS: readonly Requirement[] = ['bash', 'curl', 'jq', 'ffmpeg'].map(
  installed,
);

/**
 * The code of fenced blocks of one language; of a console, what stands behind its prompt.
 */
export function blocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) =>
      language === 'console'
        ? [...code.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm)].map(([, line = '']) => line).join('\n')
        : code,
  );
}

/**
 * What a reader types into a shell, in the order of the page. Blocks of `sh` are steps
 * that are not run here.
 */
export function commandsOf(page: string): string {
  const order = [...blocks(page, 'bash'), ...blocks(page, 'console')];
  return order.sort((a, b) => page.indexOf(firstLine(a)) - page.indexOf(firstLine(b))).join('\n');
}

const firstLine = (code: string): string => code.split('\n')[0] ?? '';

/** A folder and a shell in which a reader follows a page. */
export class TutorialShell {
  private constructor(
    readonly folder: string,
    private readonly port: number,
  ) {}

  /** @param port of the gateway; it takes the place of 8000 */
  static async open(port: number): Promise<TutorialShell> {
    const folder = temporaryFolder();
    await mkdir(join(folder, 'bin'));
    const npx = join(folder, 'bin', 'npx');
    const command = resolve('scripts/switchyard.mjs');
    // In place of npx, which would look for the command in a package of the folder.
    const script = `#!/bin/sh\nname=$1; shift\n[ "$name" = node ] && exec ${process.execPath} "$@"\n`;
    await writeFile(npx, `${script}exec ${process.execPath} ${command} "$@"\n`);
    await chmod(npx, 0o755);
    return new TutorialShell(folder, port);
  }

  async page(path: string): Promise<string> {
    return (await readFile(path, 'utf8')).replaceAll('127.0.0.1:8000', `127.0.0.1:${this.port}`);
  }

  async write(name: string, text: string): Promise<void> {
    await writeFile(join(this.folder, name), text);
  }

  /** @returns what the commands printed; fails with the first command that fails */
  async type(commands: string): Promise<string> {
    const env = {
      ...process.env,
      PATH: `${join(this.folder, 'bin')}${delimiter}${process.env.PATH}`,
      SWITCHYARD_SERVER_PORT: String(this.port),
      URL: undefined,
    };
    return (await run('bash', ['-euo', 'pipefail', '-c', commands], { cwd: this.folder, env }))
      .stdout;
  }
}
