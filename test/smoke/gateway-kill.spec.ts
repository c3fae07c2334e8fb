import { beforeAll, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { type ClusterProcess } from '../support/cluster-process.js';
import { formOf } from '../support/form-of.js';
import { openaiAt } from '../support/openai-at.js';
import { describeWith, POSTGRES, REDIS } from '../support/requires.js';
import { clusterProduct, SLOWLY } from './products.js';

describeWith(REDIS, POSTGRES)('a cluster', () => {
  let cluster: ClusterProcess;
  let openai: OpenAI;
  beforeAll(async () => {
    cluster = await clusterProduct();
    openai = openaiAt(cluster.url);
  });

  it('answers at each gateway in turn', async () => {
    for (let turn = 0; turn < 2; turn += 1) {
      const file = await toFile(Buffer.from(`turn ${turn}`), 'a.wav');
      const { text } = await openai.audio.transcriptions.create({ file, model: 'whisper-1' });
      expect(text).toContain('synthetic transcript');
    }
    for (const gateway of cluster.of('gateway')) {
      const accepted = (await cluster.scrape(gateway)).sum('switchyard_requests_accepted_total');
      expect(accepted).toBeGreaterThan(0);
    }
  });

  it('loses no request of a gateway that is killed: another one completes it', async () => {
    const [victim, survivor] = cluster.of('gateway');
    const body = formOf({ model: 'synthetic' }, SLOWLY);
    const headers = { prefer: 'respond-async', 'x-request-id': 'outlives' };
    const accepted = await fetch(`http://127.0.0.1:${victim!.port}/v1/audio/transcriptions`, {
      ...{ method: 'POST', body, headers },
    });
    expect(accepted.status).toBe(202);
    await cluster.kill(victim!.name);
    const url = `http://127.0.0.1:${survivor!.port}/v1/requests/outlives`;
    await cluster.until('it is completed', async () => {
      const { status } = (await (await fetch(url)).json()) as { status: string };
      return status === 'completed';
    });
    expect(await (await fetch(`${url}/content`)).json()).toMatchObject({
      text: expect.stringContaining('synthetic transcript'),
    });
    await cluster.until('everything runs again', () => cluster.whole());
  });
});
