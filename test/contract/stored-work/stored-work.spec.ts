import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type StoredRequest } from '../../../src/core/request/stored-request.js';
import { ResponseRuns } from '../../../src/gateway/responses/stored/response-runs.js';
import { StoredAnswers } from '../../../src/gateway/stored-work/stored-answers.js';
import { StoredLeases } from '../../../src/gateway/stored-work/stored-leases.js';
import { StoredWork } from '../../../src/gateway/stored-work/stored-work.js';
import { StoredRequestStore } from '../../../src/platform/database/stored-request-store.js';
import { expectError, GatewayRig, until } from '../../integration/api/gateway-rig.js';
import { upstreamLlm } from '../../integration/generation/generation-rig.js';
import { heldEnd } from '../../support/held-end.js';
import { OpenAiUpstream, type SeenCall } from '../../support/openai-upstream.js';
import { ResponseClient, textOf } from '../../support/response-client.js';

const TENANT = 'default';
/** What the upstream repeats, unless it is held. */
const WORDS = 'of a later attempt';
const HELD = 'of the attempt that was held';
const OTHERS = 'of the attempt of another gateway';
/** Another gateway, which holds what it took for as long as a test needs. */
const STRANGER = { owner: 'stranger', leaseMs: 3_600_000 };
const OK = { status: 200, headers: { 'content-type': 'text/event-stream' } };

let upstream: OpenAiUpstream;
let rig: GatewayRig;
let client: ResponseClient;
let store: StoredRequestStore;
let works: StoredWork;
let answers: StoredAnswers;
let leases: StoredLeases;

beforeAll(async () => {
  upstream = await OpenAiUpstream.start();
  // Leases are renewed when a test says so.
  rig = await GatewayRig.start({
    models: [upstreamLlm(upstream)],
    launch: 'hosted',
    settings: { 'requests.lease_ms': 3_600_000 },
  });
  client = new ResponseClient(rig.url);
  store = rig.app.get(StoredRequestStore, { strict: false });
  works = rig.app.get(StoredWork, { strict: false });
  answers = rig.app.get(StoredAnswers, { strict: false });
  leases = rig.app.get(StoredLeases, { strict: false });
}, 60_000);
afterEach(() => void jest.restoreAllMocks());
afterAll(async () => {
  await rig.close();
  await upstream[Symbol.asyncDispose]();
});

interface Outcome {
  readonly end: string;
  readonly text: string;
}

/** Work that has begun: its upstream has it and answers after `call.go()`. */
interface Begun {
  /** By which it is cancelled. */
  readonly id: string;
  readonly name: string;
  readonly call: SeenCall;
  /** As its caller finds it; of a caller that waits, when it has its answer. */
  outcome(): Promise<Outcome>;
  /** What makes it run again when its gateway died: another gateway, or its caller. */
  again(): Promise<Outcome>;
}

interface User {
  begin(id: string): Promise<Begun>;
  /** It ends with `OTHERS`, as another gateway writes it. */
  endElsewhere(work: StoredRequest): Promise<void>;
  /** As its caller, or a retry, finds what another gateway wrote. */
  found(begun: Begun): Promise<Outcome>;
  /** As its caller finds it when the bytes of its answer are gone. */
  readonly lost: string;
}

const chunk = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });
const STOP = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
const events = (...said: readonly unknown[]): string =>
  [...said.map(one => JSON.stringify(one)), '[DONE]'].map(data => `data: ${data}\n\n`).join('');

/** The next POST waits until its test lets it go. */
async function held(send: () => Promise<void>): Promise<SeenCall> {
  const parts = [events(chunk(HELD), STOP)];
  upstream.script({ kind: 'parts', type: 'text/event-stream', parts });
  const { length } = upstream.posts;
  await send();
  return upstream.post(length);
}

const ENDS: Readonly<Record<number, string>> = {
  200: 'completed',
  409: 'replaced',
  499: 'cancelled',
};

async function chatOutcome(answer: Response): Promise<Outcome> {
  // Headers had gone out: the rest breaks off.
  const body = await answer.text().catch(() => undefined);
  if (body === undefined) return { end: 'replaced', text: '' };
  const text = [...body.matchAll(/"content":"([^"]*)"/g)].map(([, said]) => said).join('');
  return { end: ENDS[answer.status] ?? String(answer.status), text };
}

const chat = (headers: Record<string, string>): Promise<Response> =>
  rig.post(
    '/v1/chat/completions',
    { model: 'upstream-llm', messages: [{ role: 'user', content: WORDS }], stream: true },
    { headers },
  );
const content = async (id: string) =>
  chatOutcome(await fetch(`${rig.url}/v1/requests/${id}/content`));
const find = (name: string) => store.find({ tenant: TENANT, name });
const ended = (name: string) => until(async () => (await find(name))?.answer !== undefined);

async function writeAnswer(work: StoredRequest): Promise<void> {
  const bytes = Readable.from([Buffer.from(events(chunk(OTHERS), STOP))]);
  const { answer } = await answers.store(work, OK, bytes);
  await store.end(work, { status: 'completed', answer, keepMs: 60_000 });
}

/** Another gateway finds the lease lapsed. */
async function takenOver(work: StoredRequest): Promise<StoredRequest> {
  await store.release(leases.owner, work);
  return (await store.takeOver(STRANGER))!;
}

const USERS: Readonly<Record<string, User>> = {
  'an async request': {
    async begin(id) {
      const call = await held(async () => {
        const headers = { prefer: 'respond-async', 'x-request-id': id };
        expect((await chat(headers)).status).toBe(202);
      });
      const name = `id:${id}`;
      const outcome = async () => {
        await ended(name);
        return content(id);
      };
      return { id, name, call, outcome, again: resumed(outcome) };
    },
    endElsewhere: async work => writeAnswer(await takenOver(work)),
    found: begun => begun.outcome(),
    lost: '404',
  },
  'a background response': {
    async begin() {
      let id = '';
      const call = await held(async () => {
        ({ id } = await client.created(WORDS, { model: 'upstream-llm', background: true }));
      });
      const name = `response:${id}`;
      const outcome = async () => {
        await ended(name);
        const response = await client.found(id);
        return { end: response.status, text: textOf(response) };
      };
      return { id, name, call, outcome, again: resumed(outcome) };
    },
    async endElsewhere(work) {
      const taken = await takenOver(work);
      const { tenant, requestId: id } = work;
      await rig.app
        .get(ResponseRuns, { strict: false })
        .endWith({ tenant, id }, writer => [
          ...(writer.response.status === 'queued' ? writer.begin() : []),
          ...writer.take({ type: 'text', text: OTHERS }),
          ...writer.take({ type: 'finish', reason: 'stop' }),
          ...writer.end(),
        ]);
      await writeAnswer(taken);
    },
    found: begun => begun.outcome(),
    lost: '404',
  },
  'a request that may be sent again': {
    async begin(id) {
      const key = { 'idempotency-key': id };
      let answered: Promise<Response>;
      const call = await held(async () => {
        answered = chat({ ...key, 'x-request-id': id });
        await Promise.race([answered, until(() => upstream.posts.length > 0)]);
      });
      const first = answered!.then(chatOutcome);
      const again = async () => chatOutcome(await chat(key));
      return { id, name: `key:${id}`, call, outcome: () => first, again };
    },
    async endElsewhere(work) {
      await store.release(leases.owner, work);
      const { lapsed: _, ...fields } = work;
      const again = { ...fields, status: 'running', blob: `${work.blob}-again` } as const;
      const { created, request } = await store.open(again, STRANGER);
      expect(created).toBe(true);
      await writeAnswer(request);
    },
    async found(begun) {
      expect(await begun.outcome()).toMatchObject({ end: 'replaced' });
      return begun.again();
    },
    lost: 'completed',
  },
};

/** By the gateway that finds it without a holder. */
const resumed = (outcome: () => Promise<Outcome>) => async () => {
  await leases.renew();
  return outcome();
};

describe.each(Object.entries(USERS))('%s', (title, user) => {
  let count = 0;
  const begin = async () => {
    const begun = await user.begin(`${title.replaceAll(' ', '-')}-${++count}`);
    const work = (await find(begun.name))!;
    expect(work).toMatchObject({ status: 'running', attempts: 1 });
    return { begun, work };
  };
  const cancel = async (id: string): Promise<boolean> => {
    const answer = await rig.post(`/v1/requests/${id}/cancel`, {});
    return ((await answer.json()) as { cancelled: boolean }).cancelled;
  };

  it('ends once: what its caller finds is what its row says, and later writes change nothing', async () => {
    const { begun, work } = await begin();
    begun.call.go();
    expect(await begun.outcome()).toEqual({ end: 'completed', text: HELD });
    await ended(begun.name);
    const row = await find(begun.name);
    expect(row).toMatchObject({ status: 'completed', attempts: 1 });
    const late = { status: 'failed', answer: { status: 500, headers: {} } } as const;
    expect(await works.end(work, late)).toBe('ended');
    expect(await works.end({ ...work, attempts: 2 }, late)).toBe('lost');
    expect(await find(begun.name)).toEqual(row);
  });

  it('that runs is cancelled by a cancel that says so', async () => {
    const { begun } = await begin();
    expect(await cancel(begun.id)).toBe(true);
    expect(await begun.outcome()).toMatchObject({ end: 'cancelled' });
    await begun.call.closed.passed;
    // A retry of one whose caller waits begins anew: nothing of it is kept.
    await until(async () => ['cancelled', undefined].includes((await find(begun.name))?.status));
    expect(await cancel(begun.id)).toBe(false);
  });

  it('whose end is being written is cancelled if the cancel says so, else completed', async () => {
    const end = heldEnd(store);
    const { begun } = await begin();
    begun.call.go();
    await end.reached();
    const expected = (await cancel(begun.id)) ? 'cancelled' : 'completed';
    end.written();
    expect(await begun.outcome()).toMatchObject({ end: expected });
    await ended(begun.name);
    expect(await find(begun.name)).toMatchObject({ status: expected });
  });

  it('whose gateway died runs again, and has the answer of the attempt that ended it', async () => {
    const { begun, work } = await begin();
    await store.release(leases.owner, work);
    await store.takeOver(STRANGER);
    await store.renewLeases({ ...STRANGER, leaseMs: 0 });
    expect(await begun.again()).toEqual({ end: 'completed', text: WORDS });
    begun.call.go();
    expect((await find(begun.name))!.status).toBe('completed');
  });

  it('that another gateway has ended keeps that end when its late attempt completes', async () => {
    const { begun, work } = await begin();
    await user.endElsewhere(work);
    const row = await find(begun.name);
    const end = jest.spyOn(store, 'end');
    begun.call.go();
    await until(() => end.mock.results.length > 0);
    expect(await end.mock.results[0]!.value).toBe('lost');
    expect(await user.found(begun)).toEqual({ end: 'completed', text: OTHERS });
    expect(await find(begun.name)).toEqual(row);
  });

  it('whose answer has lost its bytes is never answered with less', async () => {
    const { begun } = await begin();
    begun.call.go();
    await begun.outcome();
    await ended(begun.name);
    const row = (await find(begun.name))!;
    await answers.remove([row]);
    if (row.mode === 'async') expect(await content(begun.id)).toMatchObject({ end: user.lost });
    else expect(await begun.again()).toEqual({ end: user.lost, text: WORDS });
  });
});

describe('work of a background response whose record was never written', () => {
  it('ends: its gateway died between the two, and nobody knows its id', async () => {
    const fields = { tenant: TENANT, requestId: 'resp_unwritten', name: 'response:resp_unwritten' };
    await store.open(
      {
        ...fields,
        ...{ mode: 'async', status: 'running', path: '/v1/responses/background' },
        ...{ fingerprint: '', headers: {}, blob: 'kept/unwritten' },
        ...{ createdAtMs: Date.now(), expiresAtMs: Date.now() + 60_000 },
      },
      { owner: 'dead', leaseMs: 0 },
    );
    await leases.renew();
    await ended(fields.name);
    expect(await find(fields.name)).toMatchObject({ status: 'cancelled', answer: { status: 499 } });
    await expectError(client.get('resp_unwritten'), { status: 404 });
  });
});
