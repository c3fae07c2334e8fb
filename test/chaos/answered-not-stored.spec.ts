import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { TwoGateways } from '../integration/shared-queue/two-gateways.js';
import { describeWith, REDIS } from '../support/requires.js';

const ID = 'answered-not-stored';

/** With default settings: the time that leases and results live is what this is about. */
describeWith(REDIS)('a gateway that dies when it has a result, and before that is stored', () => {
  let harness: TwoGateways;
  beforeEach(async () => void (harness = await TwoGateways.start()), 120_000);
  afterEach(() => harness[Symbol.asyncDispose](), 120_000);

  it('leaves it to the gateway that takes the request over: nothing is computed twice', async () => {
    const { a, b, client, puller } = harness;
    const accepted = await harness.transcribe(a, ID, { prefer: 'respond-async' });
    expect(accepted.status).toBe(202);
    const held = await puller.take();
    using database = new DatabaseSync(harness.database);
    database.exec('begin immediate');
    await held.complete();
    const [job = ''] = await client.keys(`switchyard:requests-alpha:*.${ID}`);
    await harness.until('its gateway has read it', async () => (await client.pttl(job)) > 0);
    const died = once(a.process.child, 'exit');
    a.process.child.kill('SIGKILL');
    await died;
    database.exec('rollback');
    const stored = harness.until('it is stored', async () => {
      const { body } = await harness.get(b, `/v1/requests/${ID}`);
      return body.status === 'completed';
    });
    const again = puller.take().then(
      () => 'computed again',
      () => undefined,
    );
    expect(await Promise.race([stored, again])).toBeUndefined();
    const { body } = await harness.get(b, `/v1/requests/${ID}/content`);
    expect(body).toMatchObject({ text: `text of ${ID}` });
  });
});
