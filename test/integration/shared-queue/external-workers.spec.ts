import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { externalModel } from '../../support/external-model.js';
import { formOf } from '../../support/form-of.js';
import { GatewayProcess } from '../../support/gateway-process.js';
import { silentWav } from '../../support/http-request.js';
import { RedisServer } from '../../support/redis-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { pause } from '../../support/waiting.js';

interface Listed {
  readonly data: readonly { readonly id: string; readonly problem?: string }[];
}

it('a worker in another language serves the shared queue; a bad one says why', async () => {
  const folder = temporaryFolder();
  await using redis = await RedisServer.start();
  const models = [
    externalModel([], { id: 'good' }),
    externalModel(['--fault', 'exit'], { id: 'bad' }),
  ];
  const settings = {
    'queue.driver': 'redis',
    'redis.url': redis.url,
    'data.dir': join(folder, 'data'),
  } as const;
  {
    await using gateway = await GatewayProcess.start(models, settings, {
      folder,
      until: 'live',
    });
    const form = formOf({ model: 'good' }, silentWav());
    const url = `http://127.0.0.1:${gateway.port}/v1/audio/transcriptions`;
    const response = await fetch(url, { method: 'POST', body: form });
    const { text } = (await response.json()) as { text: string };
    expect(JSON.parse(text)).toMatchObject({ bytes: silentWav().length, together: 1 });
    const problem = 'its process ended with code 3: cannot load model.bin: no such file';
    const told = async (): Promise<string | undefined> => {
      const { body } = await gateway.call('GET', '/admin/v1/workers');
      return (JSON.parse(String(body)) as Listed).data.find(({ id }) => id === 'bad-0')?.problem;
    };
    while ((await told()) !== problem) await pause(50);
  }
});
