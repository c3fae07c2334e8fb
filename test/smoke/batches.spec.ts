import { describe, expect, it } from '@jest/globals';
import { openaiAt } from '../support/openai-at.js';
import { describeWith, POSTGRES, REDIS } from '../support/requires.js';
import { chatBatch, completedBatch } from './batches.js';
import { clusterProduct, embeddedProduct } from './products.js';

const words = Array.from({ length: 20 }, (_, at) => `word-${at}`);

async function completes(url: string): Promise<void> {
  const openai = openaiAt(url);
  const { id } = await chatBatch(openai, words);
  const { batch, answers } = await completedBatch(openai, id);
  expect(batch.request_counts).toEqual({ total: 20, completed: 20, failed: 0 });
  expect(answers).toEqual(words);
}

describe('a batch of one gateway, by the official OpenAI SDK', () => {
  it('completes, and its output file has the answer of each line', async () =>
    completes((await embeddedProduct()).url));
});

describeWith(REDIS, POSTGRES)('a batch of a cluster, by the official OpenAI SDK', () => {
  it('completes, and its output file has the answer of each line', async () =>
    completes((await clusterProduct()).url));
});
