import { describe, expect, it } from '@jest/globals';
import { formOf } from '../../support/form-of.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { FeedClient } from './feed-client.js';

describe('the live feed, when the gateway stops', () => {
  it('tells how the last requests ended, then lets go of its clients; none of them holds up the end', async () => {
    const rig = await GatewayRig.start({
      models: [sttModel()],
      settings: { 'server.shutdown_grace_ms': 200 },
    });
    using client = await FeedClient.connect(rig.url);
    await client.join('request:last');
    const answer = rig.post('/v1/audio/transcriptions', formOf({ model: 'stt' }), {
      headers: { 'x-request-id': 'last' },
    });
    await until(() => client.request('last')?.state === 'queued');
    const gone = new Promise(resolve => client.socket.once('disconnect', resolve));
    await rig.close();
    expect(await gone).toMatch(/^(transport close|io server disconnect)$/);
    expect(client.request('last')).toMatchObject({
      state: 'failed',
      code: 'shutting_down',
    });
    expect((await answer).status).toBe(503);
  });
});
