import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { ResponseExpiry } from '../../../src/gateway/responses/stored/response-expiry.js';
import { ResponseWriter } from '../../../src/gateway/responses/writer/response-writer.js';
import { ResponseRecordStore } from '../../../src/platform/database/response-store.js';
import { abandonResponse } from '../../support/abandoned-response.js';
import { openaiAt } from '../../support/openai-at.js';
import { OpenAiUpstream } from '../../support/openai-upstream.js';
import {
  countFrom,
  deltasOf,
  eventsIn,
  numbersOf,
  ResponseClient,
  taken,
  textOf,
} from '../../support/response-client.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { builtLaunch, errorOf, expectError, GatewayRig, until } from '../api/gateway-rig.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { syntheticLlm, upstreamLlm } from '../generation/generation-rig.js';

const WORDS = 'one two three four five';
const LOCAL = syntheticLlm({ maxConcurrent: 8, tokens: 40, perTokenMs: 60 });

let upstream: OpenAiUpstream;
let folder: KeysFolder;
let keys: { acme: string; other: string };
let data: string;
let one: GatewayRig;
let other: GatewayRig;
let acme: ResponseClient;
let acmeElsewhere: ResponseClient;
let stranger: ResponseClient;

/** One database and one blob store, as replicas share them. */
const SETTINGS = () => ({
  'auth.keys_file': folder.file,
  'data.dir': data,
  'requests.lease_ms': 1500,
  'server.shutdown_grace_ms': 200,
  'responses.conversation_length': 3,
});

beforeAll(async () => {
  folder = new KeysFolder();
  keys = {
    acme: folder.add('acme', 'inference'),
    other: folder.add('other', 'inference'),
  };
  data = temporaryFolder();
  upstream = await OpenAiUpstream.start();
  const models = [LOCAL, upstreamLlm(upstream)];
  one = await GatewayRig.start({ models, settings: SETTINGS(), launch: builtLaunch });
  other = await GatewayRig.start({ models, settings: SETTINGS(), launch: builtLaunch });
  await one.ready('synthetic-llm');
  await other.ready('synthetic-llm');
  await one.ready('upstream-llm');
  await other.ready('upstream-llm');
  acme = new ResponseClient(one.url, bearer(keys.acme));
  acmeElsewhere = new ResponseClient(other.url, bearer(keys.acme));
  stranger = new ResponseClient(one.url, bearer(keys.other));
}, 60_000);
afterAll(async () => {
  await one.close();
  await other.close();
  await upstream[Symbol.asyncDispose]();
});

const ended = async (client: ResponseClient, id: string) => {
  await until(async () => !['queued', 'in_progress'].includes((await client.found(id)).status));
  return client.found(id);
};
const short = { max_output_tokens: 16 };

describe('a stored response', () => {
  it('is found by its tenant on every gateway, and by no other tenant', async () => {
    const made = await acme.created(WORDS, short);
    expect(made).toMatchObject({ status: 'incomplete', store: true });
    expect(await acmeElsewhere.found(made.id)).toEqual(made);
    for (const id of [made.id, 'resp_unknown']) {
      for (const path of [id, `${id}/input_items`, `${id}?stream=true`])
        await expectError(stranger.get(path), {
          status: 404,
          code: 'response_not_found',
        });
      await expectError(stranger.cancel(id), {
        status: 404,
        code: 'response_not_found',
      });
      await expectError(stranger.remove(id), {
        status: 404,
        code: 'response_not_found',
      });
    }
    expect((await acme.get(made.id)).status).toBe(200);
  });

  it('is not stored with `store: false`', async () => {
    const made = await acme.created(WORDS, { ...short, store: false });
    await expectError(acme.get(made.id), { status: 404 });
  });

  it('lists the items of its input, in pages', async () => {
    const input = ['a', 'b', 'c'].map(content => ({ role: 'user', content }));
    const { id } = await acme.created(input, short);
    const page = async (query: string) =>
      (await (await acme.get(`${id}/input_items?${query}`)).json()) as {
        data: { id: string; content: { text: string }[] }[];
        has_more: boolean;
        last_id: string;
      };
    const first = await page('limit=2&order=asc');
    expect(first.data.map(({ content }) => content[0]!.text)).toEqual(['a', 'b']);
    expect(first).toMatchObject({
      object: 'list',
      has_more: true,
      last_id: first.data[1]!.id,
    });
    const rest = await page(`limit=2&order=asc&after=${first.last_id}`);
    expect(rest.data.map(({ content }) => content[0]!.text)).toEqual(['c']);
    expect(rest.has_more).toBe(false);
    expect((await page('')).data.map(({ content }) => content[0]!.text)).toEqual(['c', 'b', 'a']);
    await expectError(acme.get(`${id}/input_items?after=msg_no`), {
      status: 400,
      param: 'after',
    });
    await expectError(acme.get(`${id}/input_items?limit=0`), {
      status: 400,
      param: 'limit',
    });
  });

  it('is deleted once, with all that was said', async () => {
    const { id } = await acme.created(WORDS, short);
    expect(await (await acmeElsewhere.remove(id)).json()).toEqual({
      id,
      object: 'response',
      deleted: true,
    });
    await expectError(acme.get(id), { status: 404 });
    await expectError(acme.remove(id), { status: 404 });
  });

  it('cannot be streamed or cancelled when it did not run in the background', async () => {
    const { id } = await acme.created(WORDS, short);
    await expectError(acme.get(`${id}?stream=true`), {
      status: 400,
      param: 'stream',
    });
    await expectError(acme.cancel(id), {
      status: 400,
      param: 'response_id',
    });
  });

  it('expires', async () => {
    const { id } = await acme.created(WORDS, short);
    const records = other.app.get(ResponseRecordStore, { strict: false });
    const like = (await records.find({ tenant: 'acme', id }, Date.now()))!;
    // More than one portion.
    for (let n = 0; n < 201; n++) await records.create({ ...like, id: `resp_old_${n}` }, []);
    const inAMonth = Date.now() + 31 * 86_400_000;
    expect(await other.app.get(ResponseExpiry, { strict: false }).sweep(inAMonth)).toBeGreaterThan(
      201,
    );
    await expectError(acme.get(id), { status: 404 });
    await expectError(acme.get('resp_old_200'), { status: 404 });
  });
});

describe('previous_response_id', () => {
  it('continues a conversation, up to its bound', async () => {
    const first = await acme.created('alpha', short);
    const second = await acmeElsewhere.created('beta', {
      ...short,
      previous_response_id: first.id,
    });
    const third = await acme.created('gamma', {
      ...short,
      previous_response_id: second.id,
    });
    expect(third.previous_response_id).toBe(second.id);
    const refused = await errorOf(
      acme.create('delta', { ...short, previous_response_id: third.id }),
    );
    expect(refused).toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'previous_response_id',
    });
    expect(refused.message).toContain('maximum of 3 responses');
  });

  it('is unknown alike when it is deleted, of another tenant, or never was, anywhere in the conversation', async () => {
    const first = await acme.created('alpha', short);
    const second = await acme.created('beta', {
      ...short,
      previous_response_id: first.id,
    });
    const unknown = {
      status: 404,
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    };
    const after = (client: ResponseClient, id: string) =>
      errorOf(client.create('more', { ...short, previous_response_id: id }));
    expect(await after(stranger, second.id)).toMatchObject(unknown);
    expect(await after(acme, 'resp_never')).toMatchObject(unknown);
    await acme.remove(first.id);
    expect(await after(acme, second.id)).toMatchObject(unknown);
    expect(await after(acme, first.id)).toMatchObject(unknown);
  });

  it('resolves references to items of earlier outputs', async () => {
    const { output } = await acme.created(WORDS, short);
    const reference = { type: 'item_reference', id: output[0]!.id };
    const made = await acme.created([reference, { role: 'user', content: 'x' }], short);
    const { data: items } = (await (await acme.get(`${made.id}/input_items?order=asc`)).json()) as {
      data: object[];
    };
    expect(items[0]).toEqual(output[0]);
    expect((await stranger.create([reference], short)).status).toBe(400);
  });

  it('takes references to each item once, and to as many responses as a conversation may have: 3', async () => {
    const references = [];
    for (const text of ['a', 'b', 'c', 'd']) {
      const { output } = await acme.created(text, short);
      references.push({ type: 'item_reference', id: output[0]!.id });
    }
    await acme.created(references.slice(1), short);
    const refused = async (input: readonly object[]) => errorOf(acme.create(input, short));
    const invalid = { status: 400, code: 'invalid_value', param: 'input' };
    expect(await refused(references)).toMatchObject(invalid);
    expect((await refused(references)).message).toContain('at most 3 responses');
    expect((await refused([references[0]!, references[0]!])).message).toContain(
      'reference each item at most once',
    );
  });

  it('and input have at most 10,000 items together', async () => {
    const message = { role: 'user', content: 'x' };
    const first = await acme.created(Array<object>(9998).fill(message), short);
    const second = { ...short, previous_response_id: first.id };
    await acme.created([message], second);
    const refused = await errorOf(acme.create([message, message], second));
    expect(refused).toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'input',
    });
    expect(refused.message).toContain('at most 10000 items; got 10001');
    expect((await errorOf(acme.create(Array<object>(10_001).fill(message), short))).status).toBe(
      400,
    );
  });
});

describe('a background response', () => {
  it('is answered at once and completed later, as one that is waited for', async () => {
    const waited = await acme.created(WORDS);
    const queued = await acme.created(WORDS, { background: true });
    expect(queued).toMatchObject({ status: 'queued', background: true, output: [] });
    const done = await ended(acmeElsewhere, queued.id);
    expect(done).toMatchObject({ status: 'completed', usage: waited.usage });
    expect(textOf(done)).toBe(textOf(waited));
  });

  it('is streamed, and followed on another gateway after any event: nothing is lost or repeated', async () => {
    const live = await taken(
      eventsIn(await acme.create(WORDS, { background: true, stream: true })),
      ({ length }) => length === 12,
    );
    const id = (live[0] as { response: { id: string } }).response.id;
    const rest = await taken(acmeElsewhere.follow(id, 11));
    const all = [...live, ...rest];
    expect(numbersOf(all)).toEqual(countFrom(0, all.length));
    expect(all.at(-1)).toMatchObject({ type: 'response.completed' });
    expect(deltasOf(all)).toBe(textOf(await acme.found(id)));
    expect(await taken(acme.follow(id))).toEqual(all);
    expect(await taken(acme.follow(id, all.length - 2))).toEqual(all.slice(-1));
    expect(await taken(acme.follow(id, all.length - 1))).toEqual([]);
    await expectError(acme.get(`${id}?stream=true&starting_after=${all.length}`), {
      ...{ status: 400, code: 'invalid_value', param: 'starting_after' },
      message: expect.stringContaining(`at most ${all.length - 1}; got ${all.length}`),
    });
    await expectError(acme.get(`${id}?stream=true&starting_after=-1`), {
      param: 'starting_after',
    });
  });

  it('is cancelled on another gateway: what was said is kept, and readers get an end', async () => {
    const { id } = await acme.created(WORDS, { background: true });
    const seen = await taken(acme.follow(id), all => deltasOf(all).length > 20);
    const cancelled = await acmeElsewhere.cancel(id);
    expect(await cancelled.json()).toMatchObject({ id, status: 'cancelled' });
    const rest = await taken(acme.follow(id, seen.length - 1));
    expect(rest.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'cancelled' },
    });
    const kept = await acme.found(id);
    expect(textOf(kept)).toBe(deltasOf([...seen, ...rest]));
    expect(await (await acme.cancel(id)).json()).toEqual(kept);
    await until(async () => {
      const view = (await (await fetch(`${one.url}/v1/requests/${id}`, acme.init)).json()) as {
        status: string;
      };
      return view.status !== 'running' && view.status !== 'queued';
    });
    expect(await acme.found(id)).toEqual(kept);
  });

  it('is cancelled by the route of requests on another gateway as by its own', async () => {
    const { id } = await acme.created(WORDS, { background: true });
    const cancelled = await fetch(`${other.url}/v1/requests/${id}/cancel`, {
      method: 'POST',
      ...acme.init,
    });
    expect(await cancelled.json()).toEqual({ request_id: id, cancelled: true });
    expect(await acme.found(id)).toMatchObject({ status: 'cancelled' });
  });

  it('is resumed, listed, cancelled and deleted by the OpenAI SDK', async () => {
    const client = openaiAt(one.url, { apiKey: keys.acme });
    const elsewhere = openaiAt(other.url, { apiKey: keys.acme });
    const asked = {
      model: 'synthetic-llm',
      input: WORDS,
      background: true,
      stream: true,
    } as const;
    const seen: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await client.responses.create(asked))
      if (seen.push(event) === 9) break;
    const { id } = (seen[0] as OpenAI.Responses.ResponseCreatedEvent).response;
    for await (const event of await elsewhere.responses.retrieve(id, {
      stream: true,
      starting_after: 8,
    }))
      seen.push(event);
    expect(seen.map(({ sequence_number }) => sequence_number)).toEqual(countFrom(0, seen.length));
    expect(seen.at(-1)!.type).toBe('response.completed');
    await expectError(acme.get(`${id}?stream=true&starting_after=1e3`), {
      ...{ status: 400, code: 'invalid_value', param: 'starting_after' },
    });
    expect((await client.responses.retrieve(id)).output_text).toBe(textOf(await acme.found(id)));
    const items = await client.responses.inputItems.list(id);
    expect(items.data).toMatchObject([{ role: 'user', content: [{ text: WORDS }] }]);
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'completed' });
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({
      status: 404,
      code: 'response_not_found',
    });
  });

  it('that runs can be deleted', async () => {
    const { id } = await acme.created(WORDS, { background: true });
    await taken(acme.follow(id), all => deltasOf(all).length > 0);
    expect((await acmeElsewhere.remove(id)).status).toBe(200);
    await expectError(acme.get(id), { status: 404 });
  });

  it('cannot be continued before it has ended', async () => {
    const { id } = await acme.created(WORDS, { background: true });
    await expectError(acme.create('x', { previous_response_id: id }), {
      ...{ status: 400, param: 'previous_response_id' },
    });
    await ended(acme, id);
    expect((await acme.create('x', { ...short, previous_response_id: id })).status).toBe(200);
  });

  it('of a gateway that is stopped goes on at another one, without waiting for the lease', async () => {
    const third = await GatewayRig.start({
      models: [LOCAL],
      settings: SETTINGS(),
      launch: builtLaunch,
    });
    await third.ready('synthetic-llm');
    const { id } = await new ResponseClient(third.url, acme.init.headers as never).created(WORDS, {
      background: true,
    });
    const seen = await taken(acme.follow(id), all => deltasOf(all).length > 20);
    await third.close();
    const all = [...seen, ...(await taken(acme.follow(id, seen.length - 1)))];
    expect(numbersOf(all)).toEqual(countFrom(0, all.length));
    expect(all.at(-1)).toMatchObject({ type: 'response.completed' });
    expect(deltasOf(all)).toBe(textOf(await acme.created(WORDS)));
  }, 60_000);

  it('leaves nothing of its answer outside of the response', async () => {
    const { id } = await acme.created(WORDS, { ...short, background: true });
    await ended(acme, id);
    const content = async () =>
      (await fetch(`${one.url}/v1/requests/${id}/content`, acme.init)).text();
    await until(async () => (await content()).includes('incomplete'));
    expect(await content()).toBe(JSON.stringify({ id, object: 'response', status: 'incomplete' }));
  });

  it('goes on where its worker died, to the same text', async () => {
    const undisturbed = textOf(await acme.created(WORDS));
    const { id } = await acme.created(WORDS, { background: true });
    const seen = await taken(acme.follow(id), all => deltasOf(all).length > 20);
    process.kill(one.pool.workers()[0]!.pid!, 'SIGKILL');
    const rest = await taken(acmeElsewhere.follow(id, seen.length - 1));
    const all = [...seen, ...rest];
    expect(all.at(-1)).toMatchObject({ type: 'response.completed' });
    expect(numbersOf(all)).toEqual(countFrom(0, all.length));
    expect(deltasOf(all)).toBe(undisturbed);
    expect(textOf(await acme.found(id))).toBe(undisturbed);
    await one.ready('synthetic-llm');
  }, 30_000);
});

describe('a background response that is broken off', () => {
  const upstreamChunk = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Half an' } }] })}\n\n`;
  const broken = { model: 'upstream-llm', background: true };

  it('by its upstream ends failed, says so, and keeps what was said', async () => {
    const parts = [upstreamChunk, ': cut\n\n'];
    upstream.script({ kind: 'parts', type: 'text/event-stream', parts, cut: true });
    const { id } = await acme.created(WORDS, broken);
    const call = await upstream.post(0);
    call.go();
    await taken(acme.follow(id), all => deltasOf(all) !== '');
    call.go();
    const failed = await ended(acmeElsewhere, id);
    expect(failed).toMatchObject({
      status: 'failed',
      error: { code: expect.any(String) },
    });
    expect(failed.error!.message).not.toBe('');
    expect(textOf(failed)).toBe('Half an');
    expect((await taken(acme.follow(id))).slice(-2).map(({ type }) => type)).toEqual([
      'error',
      'response.failed',
    ]);
  });

  it.each([
    ['with a local model goes on at another gateway', 'synthetic-llm', 1, [0, 1], 'completed'],
    ['without its tokens ends failed', 'synthetic-llm', 1, [], 'failed'],
    ['with an upstream ends failed there', 'upstream-llm', 1, [], 'failed'],
    ['by the deaths of three gateways ends failed', 'synthetic-llm', 3, [0, 1], 'failed'],
  ])('by the death of its gateway: %s', async (_title, model, attempts, tokens, status) => {
    const id = `resp_orphan_${model}_${attempts}_${tokens.length}`;
    await abandoned(id, model, attempts, tokens);
    const end = await ended(acme, id);
    expect(end.status).toBe(status);
    expect(textOf(end).startsWith('one two')).toBe(true);
    if (status === 'failed')
      expect(end.error!.code).toBe(attempts === 1 ? 'worker_lost' : 'gateway_lost');
    const events = await taken(acme.follow(id));
    expect(numbersOf(events)).toEqual(countFrom(0, events.length));
    expect(deltasOf(events)).toBe(textOf(end));
    if (status === 'completed') expect(textOf(end)).toBe(textOf(await acme.created(WORDS)));
  });
});

/** What a gateway leaves that is killed when two words are durable. */
async function abandoned(
  id: string,
  model: string,
  attempts: number,
  tokens: readonly number[],
): Promise<void> {
  const like = await acme.found((await acme.created(WORDS, { background: true })).id);
  const writer = new ResponseWriter({
    ...like,
    id,
    model,
    status: 'queued',
    output: [],
    usage: null,
  });
  const events = [
    ...writer.queued(),
    ...writer.begin(),
    ...writer.take({ type: 'text', text: 'one two' }),
  ];
  const body = { model, input: [{ role: 'user', content: WORDS }], background: true };
  const told = events.map((event, at) =>
    JSON.stringify(at < events.length - 1 ? event : { ...event, token_ids: tokens }),
  );
  await abandonResponse(one.app, {
    tenant: 'acme',
    id,
    body,
    response: writer.response,
    events: told,
    attempts,
  });
}

describe('without `responses.store`', () => {
  it('nothing is stored, which the answer says, and what needs it is refused', async () => {
    const settings = { ...SETTINGS(), 'responses.store': false };
    const rig = await GatewayRig.start({
      models: [LOCAL],
      settings,
      launch: builtLaunch,
    });
    try {
      await rig.ready('synthetic-llm');
      const client = new ResponseClient(rig.url, acme.init.headers as never);
      const made = await client.created(WORDS, short);
      expect(made.store).toBe(false);
      await expectError(acme.get(made.id), { status: 404 });
      for (const fields of [
        { background: true },
        { store: true },
        { previous_response_id: made.id },
      ])
        await expectError(client.create('x', fields), {
          ...{
            status: 400,
            code: 'unsupported_parameter',
            param: Object.keys(fields)[0],
          },
        });
    } finally {
      await rig.close();
    }
  }, 60_000);
});
