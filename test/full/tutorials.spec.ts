import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { Product } from '../support/product.js';
import { describeWith, type Requirement } from '../support/requires.js';

const run = promisify(execFile);
const installed = (name: string): Requirement => ({
  name,
  present: (process.env.PATH ?? '').split(delimiter).some(folder => existsSync(join(folder, name))),
});

/** The code of fenced blocks of one language; of a console, what stands behind its prompt. */
function blocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code = '']) =>
    language === 'console'
      ? [...code.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm)].map(([, line = '']) => line).join('\n')
      : code,
  );
}

/** What a reader types into a shell, in the order of the page. */
function commandsOf(page: string): string {
  const order = [...blocks(page, 'bash'), ...blocks(page, 'console')];
  return order.sort((a, b) => page.indexOf(firstLine(a)) - page.indexOf(firstLine(b))).join('\n');
}
const firstLine = (code: string): string => code.split('\n')[0] ?? '';

const suite = describeWith(installed('bash'), installed('curl'), installed('jq'), installed('ffmpeg'));

suite('README, first-app and tutorials, typed as they are written', () => {
  let product: Product;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchyard-tutorial-'));
    const { models } = parse(await readFile('config/models.yaml', 'utf8')) as { models: ModelSpec[] };
    product = await Product.start(models, { 'batch.embedded': 'true' });
    await product.until('all models ready', async () =>
      (await product.workers()).every(({ state }) => state === 'ready'),
    );
    await mkdir(join(folder, 'bin'));
    const npx = join(folder, 'bin', 'npx');
    const command = join(process.cwd(), 'scripts/switchyard.mjs');
    // In place of npx, which would look for the command in a package of the folder.
    const script = `#!/bin/sh\nname=$1; shift\n[ "$name" = node ] && exec ${process.execPath} "$@"\n`;
    await writeFile(npx, `${script}exec ${process.execPath} ${command} "$@"\n`);
    await chmod(npx, 0o755);
  }, 120_000);
  afterAll(async () => {
    await product?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const here = (text: string): string => text.replaceAll('127.0.0.1:8000', `127.0.0.1:${product.gateway.port}`);
  const pageOf = async (name: string): Promise<string> => here(await readFile(`docs/tutorials/${name}.md`, 'utf8'));

  async function type(commands: string): Promise<string> {
    const env = {
      ...process.env,
      PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`,
      SWITCHYARD_SERVER_PORT: String(product.gateway.port),
    };
    return (await run('bash', ['-euo', 'pipefail', '-c', commands], { cwd: folder, env })).stdout;
  }

  it('the front page and the first application speak and transcribe', async () => {
    const readme = blocks(here(await readFile('README.md', 'utf8')), 'console').join('\n');
    expect(await type(readme)).toContain('place in the');
    const curl = blocks(here(await readFile('docs/start/first-app.md', 'utf8')), 'bash').join('\n');
    expect(await type(curl)).toMatch(/^1\n00:00:0.*\n.*train/);
  }, 120_000);

  it('night-batch transcribes three recordings in a batch', async () => {
    const page = (await pageOf('night-batch')).split(/^## 5/m)[0] ?? '';
    const said = (await type(commandsOf(page))).split('\n').filter(line => line.startsWith('call-'));
    expect(said.map(line => line.split('\t')[0]).sort()).toEqual(['call-1.mp3', 'call-2.mp3', 'call-3.mp3']);
    expect(said.filter(line => line.includes('train'))).toHaveLength(3);
  }, 180_000);

  it('live-captions prints what is spoken', async () => {
    const page = await pageOf('live-captions');
    await writeFile(join(folder, 'captions.mjs'), blocks(page, 'js').join('\n'));
    expect(await type(commandsOf(page))).toMatch(/\r.*(request|queue)/);
  }, 120_000);
});
