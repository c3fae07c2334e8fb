import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { Product } from '../support/product.js';
import { fetchFirstModels } from '../support/real-models.js';
import { describeWith } from '../support/requires.js';
import { blocks, commandsOf, TUTORIAL_TOOLS, TutorialShell } from '../support/tutorial.js';
import { wordErrors } from '../support/word-errors.js';

/**
 * In place of a language model: repeats the question, as
 * docs/guides/add-a-model.md describes.
 */
const ECHO: ModelSpec = {
  ...{
    id: 'echo',
    kind: 'llm',
    engine: 'synthetic',
    aliases: ['gpt-4o-mini'],
    replicas: 1,
  },
  ...{
    capabilities: ['chat', 'completions'],
    languages: [],
    addresses: [],
    voices: {},
    options: { perTokenMs: 1 },
  },
};

const first = await fetchFirstModels();
const suite = describeWith(...TUTORIAL_TOOLS, first);

suite('README, first-app and tutorials, typed as they are written', () => {
  let product: Product;
  let shell: TutorialShell;

  beforeAll(async () => {
    product = await Product.start([...first.models, ECHO], { 'batch.embedded': 'true' });
    await product.allReady();
    shell = await TutorialShell.open(product.gateway.port);
  }, 120_000);
  afterAll(async () => {
    await product?.[Symbol.asyncDispose]();
  });

  const tutorial = (name: string): Promise<string> => shell.page(`docs/tutorials/${name}.md`);

  it('the front page and the first application speak and transcribe', async () => {
    const readme = blocks(await shell.page('README.md'), 'console').join('\n');
    expect(await shell.type(readme)).toContain('place in the');
    const curl = blocks(await shell.page('docs/start/first-app.md'), 'bash').join('\n');
    // A slip is forgiven: this voice is random.
    const heard = /^1\n00:00:0.*\n.*(train.*leaves|train.*ten|leaves.*ten)/;
    expect(await shell.type(curl)).toMatch(heard);
  }, 120_000);

  it('one GPU: transcribes, chats, and serves interactive beside bulk work', async () => {
    const page = await tutorial('whisper-kokoro-qwen-on-one-gpu');
    const printed = await shell.type(commandsOf(page));
    expect(printed.match(/train/gi)?.length).toBeGreaterThanOrEqual(3);
    expect(printed).toMatch(/^echo\tready\t/m);
  }, 120_000);

  it('a voice assistant answers a spoken question aloud', async () => {
    const page = await tutorial('voice-assistant');
    await shell.write('assistant.mjs', blocks(page, 'js').join('\n'));
    expect(await shell.type(commandsOf(page))).toMatch(
      /user: .*train.*\nassistant: .*train.*\n[^]*answer-1\.wav/,
    );
  }, 120_000);

  it('night-batch transcribes three recordings in a batch', async () => {
    const page = (await tutorial('night-batch')).split(/^## 5/m)[0] ?? '';
    const said = (await shell.type(commandsOf(page)))
      .split('\n')
      .filter(line => line.startsWith('call-'));
    expect(said.map(line => line.split('\t')[0]).sort()).toEqual([
      'call-1.mp3',
      'call-2.mp3',
      'call-3.mp3',
    ]);
    // This voice is random, and numbers come as words or digits: of nine words six are right.
    const spoken = ['one', 'two', 'three'].map(
      number => `Recording number ${number}. The night train leaves at ten.`,
    );
    for (const line of said) {
      const heard = line.split('\t')[1] ?? '';
      const errors = spoken.map(text => wordErrors(text, heard));
      expect([line, Math.min(...errors) <= 3]).toEqual([line, true]);
    }
  }, 180_000);

  it('live-captions prints what is spoken', async () => {
    const page = await tutorial('live-captions');
    await shell.write('captions.mjs', blocks(page, 'js').join('\n'));
    expect(await shell.type(commandsOf(page))).toMatch(/\r.*(request|queue)/);
  }, 120_000);

  it.each([
    ['speak-and-transcribe', /^heard .*queue/m],
    ['live-captions', /^final: .*morning/m],
  ])(
    'examples/%s runs with one command',
    async (name, printed) => {
      const program = resolve('examples', `${name}.mjs`);
      expect(await shell.type(`SWITCHYARD_URL=${product.url} npx node ${program}`)).toMatch(
        printed,
      );
    },
    120_000,
  );
});
