import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, expectError } from '../api/gateway-rig.js';
import { answerOf, type BatchAnswer, JobsRig } from './jobs-rig.js';

let rig: JobsRig;
let input: string;
beforeAll(async () => {
  rig = await JobsRig.start({
    'batch.webhook_allow_hosts': 'hooks.example:8443, 10.9.0.0/16',
    'batch.webhook_secret_file': 'read by the processor only',
  });
  input = (await rig.file('{}\n')).id;
});
afterAll(() => rig.close());

const get = (path: string) => fetch(`${rig.url}/v1/batches${path}`);
const act = (id: string, verb: string, headers: Record<string, string> = {}) =>
  rig.gateway.post(`/v1/batches/${id}/${verb}`, {}, { headers });
const remove = (id: string) => fetch(`${rig.url}/v1/batches/${id}`, { method: 'DELETE' });

describe('POST /v1/batches', () => {
  it("answers with OpenAI's batch, its deadline set", async () => {
    const output = { anchor: 'created_at', seconds: 3600 };
    const batch = await rig.batch({
      input_file_id: input,
      metadata: { team: 'a' },
      output_expires_after: output,
    });
    const created = batch.created_at as number;
    expect(batch).toEqual({
      id: expect.stringMatching(/^batch_[0-9a-f]{32}$/),
      object: 'batch',
      endpoint: '/v1/embeddings',
      model: null,
      errors: null,
      input_file_id: input,
      completion_window: '24h',
      status: 'validating',
      output_file_id: null,
      error_file_id: null,
      created_at: created,
      expires_at: created + 86_400,
      ...Object.fromEntries(
        [
          'in_progress',
          'finalizing',
          'completed',
          'failed',
          'expired',
          'cancelling',
          'cancelled',
        ].map(name => [`${name}_at`, null]),
      ),
      request_counts: { total: 0, completed: 0, failed: 0 },
      usage: null,
      metadata: { team: 'a' },
      ...{ rate_per_s: null, eta_s: null, retry_of: null, webhook: null },
    });
    expect(await answerOf(get(`/${batch.id}`))).toEqual(batch);
  });

  it.each([
    ['60s', 60],
    ['30m', 1800],
    ['7d', 604_800],
  ])('takes the window %s', async (window, seconds) => {
    const batch = await rig.batch({ input_file_id: input, completion_window: window });
    expect((batch.expires_at as number) - (batch.created_at as number)).toBe(seconds);
  });

  it.each([
    [{ completion_window: '59s' }, 'invalid_value', 'completion_window'],
    [{ completion_window: '8d' }, 'invalid_value', 'completion_window'],
    [{ completion_window: 24 }, 'invalid_value', 'completion_window'],
    [{ completion_window: undefined }, 'missing_required_parameter', 'completion_window'],
    [{ endpoint: '/v1/images/generations' }, 'invalid_value', 'endpoint'],
    [{ endpoint: undefined }, 'missing_required_parameter', 'endpoint'],
    [{ input_file_id: undefined }, 'missing_required_parameter', 'input_file_id'],
    [{ input_file_id: 'file-nobody' }, 'file_not_found', 'input_file_id'],
    [{ metadata: ['a'] }, 'invalid_value', 'metadata'],
    [{ metadata: { a: 1 } }, 'invalid_value', 'metadata'],
    [{ metadata: { ['k'.repeat(65)]: 'v' } }, 'invalid_value', 'metadata'],
    [{ metadata: { k: 'v'.repeat(513) } }, 'invalid_value', 'metadata'],
    [
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, ''])) },
      'invalid_value',
      'metadata',
    ],
    [
      { output_expires_after: { anchor: 'created_at', seconds: 60 } },
      'invalid_value',
      'output_expires_after.seconds',
    ],
    [{ output_expires_after: [] }, 'invalid_value', 'output_expires_after'],
    [{ webhook: 'https://example.com' }, 'invalid_value', 'webhook'],
    [{ webhook: {} }, 'missing_required_parameter', 'webhook.url'],
    [{ webhook: { url: 'example.com' } }, 'webhook_refused', 'webhook.url'],
    [{ webhook: { url: 'ftp://example.com' } }, 'webhook_refused', 'webhook.url'],
    [{ webhook: { url: 'http://127.0.0.1/' } }, 'webhook_refused', 'webhook.url'],
    [{ webhook: { url: 'http://[::ffff:10.0.0.1]/' } }, 'webhook_refused', 'webhook.url'],
    [{ webhook: { url: 'http://169.254.169.254/latest' } }, 'webhook_refused', 'webhook.url'],
    [{ webhook: { url: 'http://1.1.1.1:6379/' } }, 'webhook_refused', 'webhook.url'],
  ])('refuses %j', async (fields, code, param) => {
    await expectError(rig.create({ input_file_id: input, ...fields }), {
      code,
      param,
    });
  });

  it.each(['[]', '"x"', '{'])('refuses the body %s', async body => {
    const init = {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    };
    await expectError(fetch(`${rig.url}/v1/batches`, init), {
      status: 400,
      code: 'invalid_json',
    });
  });

  it('refuses a file of another purpose', async () => {
    const { id } = await rig.file('x', { purpose: 'vision' });
    const error = await errorOf(rig.create({ input_file_id: id }));
    expect(error).toMatchObject({ code: 'invalid_value', param: 'input_file_id' });
    expect(error.message).toContain('vision');
  });

  it('takes a webhook to an address that the settings allow', async () => {
    const webhook = { url: 'http://10.9.8.7/hook' };
    expect((await rig.batch({ input_file_id: input, webhook })).webhook).toEqual(webhook);
  });

  it('refuses every webhook while it has no secret to sign them with', async () => {
    const unsigned = await JobsRig.start();
    try {
      const { id } = await unsigned.file('{}\n');
      const webhook = { url: 'https://example.com/hook' };
      const error = await errorOf(unsigned.create({ input_file_id: id, webhook }));
      expect(error).toMatchObject({
        status: 400,
        code: 'webhook_refused',
        param: 'webhook.url',
      });
      expect(error.message).toContain('batch.webhook_secret_file');
    } finally {
      await unsigned.close();
    }
  });

  it('accepts fields it does not know, as newer SDKs send them', async () => {
    await rig.batch({ input_file_id: input, sparkle: true });
  });
});

describe('Idempotency-Key', () => {
  const keyed = (key: string, fields: object = {}) =>
    rig.create(
      { input_file_id: input, metadata: { a: '1', b: '2' }, ...fields },
      { 'idempotency-key': key },
    );

  it('makes one batch of many equal requests, also at the same time', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => answerOf<BatchAnswer>(keyed('one'))));
    const swapped = await answerOf<BatchAnswer>(keyed('one', { metadata: { b: '2', a: '1' } }));
    expect(new Set([...answers, swapped].map(({ id }) => id)).size).toBe(1);
  });

  it('used for another batch is 422, which SDKs do not try again', async () => {
    const { id } = await answerOf<BatchAnswer>(keyed('two'));
    const error = await errorOf(keyed('two', { completion_window: '1h' }));
    expect(error).toMatchObject({
      status: 422,
      code: 'idempotency_key_reused',
      param: 'Idempotency-Key',
    });
    expect(error.message).toContain(id);
    expect(error.headers.get('x-should-retry')).toBe('false');
  });

  it('has at most 255 characters', async () => {
    await expectError(keyed('k'.repeat(256)), {
      status: 400,
      code: 'invalid_value',
    });
  });
});

describe('GET /v1/batches', () => {
  it('pages newest first by ids', async () => {
    const mine: string[] = [];
    for (let index = 0; index < 3; index++)
      mine.unshift((await rig.batch({ input_file_id: input })).id);
    interface Page {
      data: BatchAnswer[];
      has_more: boolean;
      last_id: string;
    }
    const first = await answerOf<Page>(get('?limit=2'));
    expect([first.data.map(({ id }) => id), first.has_more, first.last_id]).toEqual([
      mine.slice(0, 2),
      true,
      mine[1],
    ]);
    expect((await answerOf<Page>(get(`?limit=1&after=${mine[1]!}`))).data[0]!.id).toBe(mine[2]);
  });

  it.each(['limit=0', 'limit=101', 'limit=1.5', 'after=0', 'after=batch_nobody'])(
    'refuses %s',
    async query => {
      const param = query.split('=')[0];
      await expectError(get(`?${query}`), {
        status: 400,
        code: 'invalid_value',
        param,
      });
    },
  );

  it('shows live counts, rate and ETA', async () => {
    const { id } = await rig.batch({ input_file_id: input });
    const nowMs = Date.now();
    const epoch = await rig.claim(id);
    await rig.claims.update(id, epoch, { status: 'in_progress' }, nowMs - 10_000);
    const counts = { total: 100, completed: 15, failed: 5 };
    await rig.claims.update(id, epoch, { counts }, nowMs);
    const { data } = await answerOf<{ data: BatchAnswer[] }>(get('?limit=1'));
    expect(data[0]).toMatchObject({ id, status: 'in_progress', request_counts: counts });
    expect(data[0]!.rate_per_s).toBeGreaterThan(1);
    expect(data[0]!.eta_s).toBeGreaterThan(30);
  });
});

describe('the end of a batch', () => {
  it('cancel is accepted until it ends, repeated or not, and then 400', async () => {
    const { id } = await rig.batch({ input_file_id: input });
    for (let time = 0; time < 2; time++)
      expect(await answerOf(act(id, 'cancel'))).toMatchObject({
        status: 'cancelling',
        cancelling_at: expect.any(Number),
      });
    const ended = await rig.batch();
    await rig.finish(ended.id);
    await expectError(act(ended.id, 'cancel'), {
      status: 400,
      code: 'batch_not_cancellable',
    });
  });

  it('only then can it be deleted; its files stay', async () => {
    const { id, input_file_id: file } = await rig.batch();
    await expectError(remove(id), {
      status: 400,
      code: 'batch_not_finished',
    });
    await rig.finish(id);
    expect(await answerOf(remove(id))).toEqual({ id, object: 'batch', deleted: true });
    await expectError(get(`/${id}`), {
      status: 404,
      code: 'batch_not_found',
    });
    await answerOf(fetch(`${rig.url}/v1/files/${file}`));
  });

  it('that nobody made is not found', async () => {
    const all = [
      get('/batch_x'),
      act('batch_x', 'cancel'),
      act('batch_x', 'retry-failed'),
      remove('batch_x'),
    ];
    for (const answer of all)
      await expectError(answer, {
        status: 404,
        code: 'batch_not_found',
      });
  });
});

describe('retry-failed', () => {
  const line = (id: string, body: string) => `{"custom_id":"${id}","body":${body}}`;

  it('makes a batch of the failed lines, byte by byte as they came', async () => {
    const big = line('b', '{"n":12345678901234567890,  "deep":[[["ü"]]]}');
    const file = await rig.file(
      [line('a', '{}'), big, line('c', '{}'), line('d', '1e400')].join('\r\n'),
    );
    const errors = await rig.file(`${line('d', 'null')}\n${line('b', 'null')}\n`, {
      purpose: 'evals',
    });
    const failed = await rig.batch({
      input_file_id: file.id,
      metadata: { team: 'a' },
      completion_window: '2h',
    });
    await rig.finish(failed.id, errors.id);
    const again = await answerOf<BatchAnswer>(act(failed.id, 'retry-failed'));
    expect(again).toMatchObject({
      retry_of: failed.id,
      metadata: { team: 'a' },
      completion_window: '2h',
    });
    expect(again).toMatchObject({ status: 'validating', endpoint: '/v1/embeddings' });
    expect(await (await rig.content(again.input_file_id)).text()).toBe(
      `${big}\n${line('d', '1e400')}\n`,
    );
  });

  it('leaves out a line of the same id that did not fail', async () => {
    const lines = ['1', '2', '3'].map(n => line(n === '3' ? 'b' : 'a', `{"n":${n}}`));
    const file = await rig.file(['', ...lines].join('\n'));
    const error = { custom_id: 'a', error: { code: 'duplicate_custom_id', line: 3 } };
    const errors = await rig.file(`${JSON.stringify(error)}\n`, { purpose: 'evals' });
    const failed = await rig.batch({ input_file_id: file.id });
    await rig.finish(failed.id, errors.id);
    const again = await answerOf<BatchAnswer>(act(failed.id, 'retry-failed'));
    expect(await (await rig.content(again.input_file_id)).text()).toBe(`${lines[1]}\n`);
  });

  it('makes one batch and one file for an idempotency key, whoever is first', async () => {
    const failedOne = async () => {
      const file = await rig.file(line('a', '{}'));
      const errors = await rig.file(`${line('a', 'null')}\n`, { purpose: 'evals' });
      const { id } = await rig.batch({ input_file_id: file.id });
      await rig.finish(id, errors.id);
      return id;
    };
    const [id, other] = [await failedOne(), await failedOne()];
    const headers = { 'idempotency-key': 'retry' };
    const retry = () => answerOf<BatchAnswer>(act(id, 'retry-failed', headers));
    const [first, second] = await Promise.all([retry(), retry()]);
    const third = await retry();
    expect([second.id, third.id]).toEqual([first.id, first.id]);
    await expectError(act(other, 'retry-failed', headers), {
      status: 422,
      code: 'idempotency_key_reused',
    });
    const files = await answerOf<{ data: { filename: string }[] }>(fetch(`${rig.url}/v1/files`));
    const names = files.data.map(({ filename }) => filename);
    expect(names.filter(name => name === `retry-of-${id}.jsonl`)).toHaveLength(1);
    expect(names).not.toContain(`retry-of-${other}.jsonl`);
  });

  it('waits for the end, and needs failed lines', async () => {
    const { id } = await rig.batch();
    await expectError(act(id, 'retry-failed'), {
      status: 400,
      code: 'batch_not_finished',
    });
    await rig.finish(id);
    await expectError(act(id, 'retry-failed'), {
      status: 400,
      code: 'nothing_to_retry',
    });
  });
});
