import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { toFile } from 'openai';
import { peakBytes } from '../../src/platform/process/process-memory.js';
import { openaiAt } from '../support/openai-at.js';
import { Product } from '../support/product.js';
import { fetchRealModels } from '../support/real-models.js';
import { describeWith } from '../support/requires.js';
import { pause } from '../support/waiting.js';

const { real, ...published } = await fetchRealModels();

const MIB = 2 ** 20;
const IDS = ['piper-en-joe', 'smollm2-135m-instruct', 'whisper-base'];
const SENTENCE = 'Every request has a place in the queue.';

interface Device {
  readonly models: readonly {
    readonly id: string;
    readonly memory_bytes: number;
    readonly stage: string | null;
  }[];
  readonly history: readonly { readonly model: string; readonly stage: string }[];
}

describeWith(published)('Whisper base, SmolLM2 and Piper on a device of 1 GiB', () => {
  let product: Product;
  /** Of all processes of models at one time, at most. */
  let mostBytes = 0;
  let watching: Promise<void>;
  let isOver = false;

  beforeAll(async () => {
    const models = real.models
      .filter(({ id }) => IDS.includes(id))
      .map(model => ({ ...model, device: 'ram' }) as unknown as typeof model);
    product = await Product.start(models, {}, { devices: [{ id: 'ram', memory: '1GiB' }] });
    watching = watch();
  });
  afterAll(async () => {
    isOver = true;
    await watching;
    await product[Symbol.asyncDispose]();
  });

  async function watch(): Promise<void> {
    for (; !isOver; await pause(50)) {
      const workers = await product.workers();
      const bytes = workers.reduce((sum, { pid }) => sum + peakBytes(pid), 0);
      mostBytes = Math.max(mostBytes, bytes);
    }
  }

  const device = async (): Promise<Device> =>
    (await product.json<{ data: Device[] }>('/admin/v1/devices')).data[0]!;

  /** A sentence is spoken, heard and answered: each model is needed in turn. */
  async function turn(): Promise<string> {
    const openai = openaiAt(product.url, { timeout: 110_000 });
    const speech = await openai.audio.speech.create({
      ...{ model: 'tts-1', voice: 'alloy', input: SENTENCE, response_format: 'wav' },
    });
    const file = await toFile(Buffer.from(await speech.arrayBuffer()), 'speech.wav');
    const { text } = await openai.audio.transcriptions.create({ file, model: 'whisper-1' });
    const { choices } = await openai.chat.completions.create({
      ...{ model: 'gpt-4o-mini', max_tokens: 16, messages: [{ role: 'user', content: text }] },
    });
    expect(choices[0]!.message.content).not.toBe('');
    return text;
  }

  it('take turns: each is loaded for who asks, measured, and leaves for the next one', async () => {
    // The first load of each has the device to itself.
    expect([await turn(), await turn()]).toEqual([SENTENCE, SENTENCE]);
    const { models, history } = await device();
    expect(models.map(({ id }) => id).sort()).toEqual(IDS);
    // Two of them fit, three do not: one has left.
    for (const { memory_bytes: bytes } of models) expect(bytes).toBeLessThan(700 * MIB);
    expect(models.reduce((sum, model) => sum + model.memory_bytes, 0)).toBeGreaterThan(1024 * MIB);
    expect(models.filter(({ stage }) => stage === 'resident')).toHaveLength(2);
    expect(history.some(({ stage }) => stage === 'leaving')).toBe(true);
    expect(mostBytes).toBeGreaterThan(400 * MIB);
    expect(mostBytes).toBeLessThanOrEqual(1024 * MIB);
  });
});
