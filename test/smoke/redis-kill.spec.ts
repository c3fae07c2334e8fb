import { expect, it } from '@jest/globals';
import { toFile } from 'openai';
import { openaiAt } from '../support/openai-at.js';
import { describeWith, POSTGRES, REDIS } from '../support/requires.js';
import { clusterProduct, SLOWLY } from './products.js';

describeWith(REDIS, POSTGRES)('kill -9 of Redis', () => {
  it('costs no accepted request its answer, and the cluster serves again', async () => {
    const cluster = await clusterProduct();
    const openai = openaiAt(cluster.url);
    const id = 'outlives-redis';
    const transcribe = async (text: string, headers = {}) => {
      const file = await toFile(Buffer.from(text), 'a.wav');
      return openai.audio.transcriptions.create({ file, model: 'whisper-1' }, { headers });
    };
    const running = transcribe(SLOWLY, { 'x-request-id': id });
    await cluster.until('it runs', async () => {
      const states = cluster.of('gateway').map(async ({ port }) => {
        const answer = await fetch(`http://127.0.0.1:${port}/v1/requests/${id}`);
        return ((await answer.json()) as { state?: string }).state;
      });
      return (await Promise.all(states)).includes('running');
    });
    await cluster.kill('redis');
    expect((await running).text).toContain('synthetic transcript');
    await cluster.until('everything runs again', () => cluster.whole());
    expect((await transcribe('afterwards')).text).toContain('synthetic transcript');
  });
});
