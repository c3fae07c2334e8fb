import { expect, it } from '@jest/globals';
import { openaiAt } from '../support/openai-at.js';
import { describeWith, POSTGRES, REDIS } from '../support/requires.js';
import { chatBatch, completedBatch } from './batches.js';
import { clusterProduct, SLOWLY } from './products.js';

/** The first one runs when the others are done. */
const words = Array.from({ length: 40 }, (_, at) => `${at === 0 ? SLOWLY : 'word'}-${at}`);

describeWith(REDIS, POSTGRES)('kill -9 of the batch processors', () => {
  it('in the middle of a batch: it is resumed, and each line is answered once', async () => {
    const cluster = await clusterProduct();
    const openai = openaiAt(cluster.url);
    const { id } = await chatBatch(openai, words);
    await cluster.until('some lines are done', async () => {
      const { status, request_counts } = await openai.batches.retrieve(id);
      return status === 'in_progress' && request_counts!.completed > 0;
    });
    await Promise.all(cluster.of('processor').map(({ name }) => cluster.kill(name)));
    const { batch, answers } = await completedBatch(openai, id);
    expect(batch.request_counts).toEqual({ total: 40, completed: 40, failed: 0 });
    expect(answers).toEqual(words);
    await cluster.until('everything runs again', () => cluster.whole());
  });
});
