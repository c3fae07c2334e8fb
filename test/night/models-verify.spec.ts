import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Product } from '../support/product.js';
import { fetchRealModels } from '../support/real-models.js';
import { describeWith } from '../support/requires.js';

const { real, ...published } = await fetchRealModels();
const ID = 'smollm2-135m-instruct';

/** With a tiny model, beside another server: test/integration/cli/chat.spec.ts. */
describeWith(published)('published models and human speech', () => {
  let product: Product;
  beforeAll(async () => {
    product = await Product.start(real.models.filter(({ id }) => id === ID));
    await product.allReady();
  });
  afterAll(() => product[Symbol.asyncDispose]());

  it('`models verify` tells what a model does alone and with callers beside each other', async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['dist/main.cli.js', 'models', 'verify', 'gpt-4o-mini', '--json'],
      { env: { ...process.env, NODE_OPTIONS: '', SWITCHYARD_URL: product.url } },
    );
    expect(JSON.parse(stdout)).toMatchObject({
      model: ID,
      engine: 'llama-cpp',
      memory: expect.stringMatching(/^[\d.]+ [MG]iB$/),
      accuracy: expect.stringMatching(/^\d of 5 questions$/),
      speed: expect.stringMatching(
        /^\d+, \d+, \d+ tokens\/s with 1, 8, 32 callers; first token \d+ ms$/,
      ),
    });
  });
});
