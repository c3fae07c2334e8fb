import { cp, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { modelSpec } from '../contract/engines/engine-items.js';
import { Product } from '../support/product.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const ID = 'sherpa-onnx-under-test';
const MODEL = 'test/fixtures/sherpa/nemo-ctc';

interface Failure {
  readonly error: { readonly code: string; readonly message: string };
}

describe('a model that cannot be loaded', () => {
  let folder: string;
  let product: Product | undefined;

  beforeEach(async () => {
    folder = temporaryFolder();
    await cp(MODEL, folder, { recursive: true });
    await truncate(join(folder, 'model.onnx'), 1000);
  });
  afterEach(() => product?.[Symbol.asyncDispose]());

  const start = async (model: Partial<ModelSpec> = {}) => {
    const damaged = {
      ...modelSpec('sherpa-onnx', 'stt', { modelDir: folder }),
      capabilities: ['transcribe'] as const,
    };
    product = await Product.start([{ ...damaged, ...model }], {}, { until: 'live' });
  };
  const state = async () =>
    (await product!.json<{ data: { state: string; reason?: string }[] }>('/admin/v1/models'))
      .data[0]!;
  const refused = async (reply: Response | Promise<Response>) => {
    const response = await reply;
    const { error } = (await response.json()) as Failure;
    return {
      status: response.status,
      retry: response.headers.get('x-should-retry'),
      ...error,
    };
  };
  const expected = {
    ...{ status: 503, retry: 'false', code: 'model_load_failed' },
    message: expect.stringMatching(
      /^The model .* cannot be loaded: .*model\.onnx is cut off: it has 1000 bytes/,
    ),
  };

  it('refuses the request that waits for it and later ones, with its reason, and restarts slowly', async () => {
    await start({ autostart: 'on_request' });
    expect(await refused(product!.transcribe('a', { model: ID }))).toMatchObject(expected);
    expect(await refused(product!.transcribe('b', { model: ID }))).toMatchObject(expected);
    const [worker] = await product!.workers();
    expect(worker!.restarts).toBe(0);
    expect(await state()).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('is cut off'),
    });
  });

  it('serves it when its files are repaired and it is loaded again', async () => {
    await start();
    await product!.until('the failure is known', async () => (await state()).state === 'failed');
    await cp(MODEL, folder, { recursive: true });
    for (const way of ['unload', 'load']) {
      await fetch(`${product!.url}/admin/v1/models/${ID}/${way}`, { method: 'POST' });
    }
    await product!.until('it is loaded', async () => (await state()).state === 'loaded');
    // No audio, but it was the engine that looked.
    expect(await refused(product!.transcribe('a', { model: ID }))).toMatchObject({
      status: 400,
    });
  });
});
