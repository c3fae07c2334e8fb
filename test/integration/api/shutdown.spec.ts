import { afterEach, describe, expect, it } from '@jest/globals';
import { audioForm } from './audio-forms.js';
import { errorOf, until } from './gateway-rig.js';
import { HeldRig } from './held-rig.js';
import { multipartHead, RawHttp } from './raw-http.js';

const PATH = '/v1/audio/transcriptions';

let gateway: HeldRig;
afterEach(() => gateway.worker.stop());

describe('a gateway that shuts down', () => {
  it('refuses new work with 503 and Connection: close, answers probes, and finishes what runs', async () => {
    gateway = await HeldRig.start();
    const { rig, worker } = gateway;
    const running = gateway.held('last');
    await until(() => worker.holding.includes('last'));
    const closed = rig.close();
    await until(async () => (await fetch(`${rig.url}/health/ready`)).status === 503);
    expect(await rig.json('/health')).toMatchObject({ status: 'draining' });
    expect((await fetch(`${rig.url}/health/live`)).status).toBe(200);
    expect(await rig.json('/v1/requests/last')).toMatchObject({ state: 'running' });
    const error = await errorOf(rig.post(PATH, audioForm()));
    expect(error).toMatchObject({ status: 503, code: 'shutting_down' });
    expect(error.headers.get('connection')).toBe('close');
    expect(error.headers.get('retry-after')).toMatch(/^[2-6]$/);
    worker.releaseAll();
    expect((await running).status).toBe(200);
    await closed;
    await expect(fetch(`${rig.url}/health/live`)).rejects.toThrow();
  });

  it('does not wait for an upload that never ends', async () => {
    gateway = await HeldRig.start();
    const { rig } = gateway;
    const raw = await RawHttp.open(rig.port);
    raw.send(...multipartHead('Content-Length: 900000'));
    await rig.close();
    await raw.answer(true);
  });
});
