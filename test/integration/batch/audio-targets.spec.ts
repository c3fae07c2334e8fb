import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { BatchHarness } from '../../support/batch-harness.js';
import { expectWholeBatch } from '../../support/batch-invariants.js';
import { TargetServer } from '../../support/target-server.js';

const ENDPOINT = '/v1/audio/transcriptions';

const audioLine = (customId: string, body: object): string =>
  JSON.stringify({
    custom_id: customId,
    method: 'POST',
    url: ENDPOINT,
    body: { model: 'm', ...body },
  });

describe('audio lines to a target that is no Switchyard', () => {
  it('bring the bytes along: those of a URL are fetched here, public or allowed addresses only', async () => {
    await using shop = await TargetServer.start(() => ({
      body: 'sound',
      headers: { 'content-type': 'audio/wav' },
    }));
    await using inner = await TargetServer.start();
    await using target = await TargetServer.start(() => ({ body: '{"text":"heard"}' }));
    await using harness = await BatchHarness.open({
      settings: { 'fetch.allow_hosts': new URL(shop.url).host },
    });
    const gateway = { url: target.url, request_timeout: '30s', max_retries: 0 };
    const targets = {
      global_inference_gateway: {
        ...gateway,
        initial_backoff: '10ms',
        max_backoff: '1s',
      },
    };
    const file = join(harness.folder, 'targets.yaml');
    await writeFile(file, JSON.stringify(targets));
    const lines = [
      audioLine('url', {
        file_url: `${shop.url}/a.wav`,
        language: 'en',
        timestamp_granularities: ['word'],
      }),
      audioLine('inner', { file_url: `${inner.url}/a.wav` }),
      audioLine('base64', {
        audio: `data:audio/wav;base64,${Buffer.from('noise').toString('base64')}`,
      }),
    ];
    const { id } = await harness.submit(lines, { endpoint: ENDPOINT });
    await harness.host({ 'batch.targets_file': file });
    expect((await harness.untilEnd(id)).status).toBe('completed');
    const { errors } = await expectWholeBatch(harness, id, ['url', 'inner', 'base64']);
    expect(errors).toMatchObject([
      { custom_id: 'inner', response: null, error: { code: 'file_url_refused' } },
    ]);
    expect(inner.calls).toHaveLength(0);
    const forms = target.calls.map(({ body }) => body.toString());
    const ofUrl = forms.find(form => form.includes('sound'))!;
    expect(ofUrl).toMatch(/name="language"\r\n\r\nen\r\n/);
    expect(ofUrl).toMatch(/name="timestamp_granularities\[\]"\r\n\r\nword\r\n/);
    expect(ofUrl).not.toContain('file_url');
    expect(forms.some(form => form.includes('noise'))).toBe(true);
    for (const { headers } of target.calls)
      expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
  });
});
