import { describe, expect, it } from '@jest/globals';
import { toFile } from 'openai';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { openaiAt } from '../../support/openai-at.js';
import { Product } from '../../support/product.js';

/** As the models file has it: of two, one fits. */
const onDevice = (id: string, alias: string): ModelSpec =>
  ({
    ...{ id, kind: 'llm', engine: 'synthetic', capabilities: ['chat'], aliases: [alias] },
    ...{ device: 'gpu0', memory: '8GiB', min_residence_s: 0 },
    options: { baseMs: 100, loadMs: 300, maxConcurrent: 1 },
  }) as unknown as ModelSpec;

describe('a batch job for two models of which one fits on the device', () => {
  it('loads each of them once, however its lines are ordered', async () => {
    const models = [onDevice('a', 'first'), onDevice('b', 'second')];
    const devices = [{ id: 'gpu0', memory: '10GiB' }];
    await using product = await Product.start(models, { 'batch.embedded': 'true' }, { devices });
    const openai = openaiAt(product.url);
    const lines = Array.from({ length: 60 }, (_, index) => ({
      ...{ custom_id: `line-${index}`, method: 'POST', url: '/v1/chat/completions' },
      body: {
        model: index % 2 === 0 ? 'first' : 'b',
        messages: [{ role: 'user', content: `${index}` }],
      },
    }));
    const text = lines.map(line => JSON.stringify(line)).join('\n');
    const file = await openai.files.create({
      file: await toFile(Buffer.from(text), 'lines.jsonl'),
      purpose: 'batch',
    });
    let batch = await openai.batches.create({
      ...{ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' },
    });
    await product.until('the batch has ended', async () => {
      batch = await openai.batches.retrieve(batch.id);
      return batch.status === 'completed';
    });
    expect(batch.request_counts).toEqual({ total: 60, completed: 60, failed: 0 });
    const scrape = await product.gateway.scrape();
    const loads = (id: string) => scrape.sum('switchyard_model_loads_total', `model="${id}"`);
    expect([loads('a'), loads('b')]).toEqual([1, 1]);
  });
});
