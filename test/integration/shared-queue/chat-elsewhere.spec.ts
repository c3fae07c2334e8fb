import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ChatAnswer, ChatCluster, SLOTS } from '../../support/chat-cluster.js';
import { type GatewayProcess } from '../../support/gateway-process.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { ids } from '../../support/scheduler-harness.js';

interface Listed {
  readonly request_id: string;
  readonly state: string;
  readonly position?: number;
  readonly priority: string;
}

interface Explained extends Listed {
  readonly slots?: { readonly in_use: number; readonly total: number };
}

describeWith(REDIS)('chats of one gateway, seen from another', () => {
  let cluster: ChatCluster;
  let a: GatewayProcess;
  let b: GatewayProcess;

  beforeAll(async () => {
    cluster = await ChatCluster.start(2, { holdMs: 6000 });
    [a, b] = cluster.gateways as [GatewayProcess, GatewayProcess];
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const chat = (gateway: GatewayProcess, id: string) =>
    cluster.chat(gateway, id, { headers: { 'x-request-id': id, 'x-priority': 'batch' } });
  const listed = async (gateway: GatewayProcess): Promise<Listed[]> => {
    const reply = await gateway.call('GET', '/admin/v1/requests');
    return (JSON.parse(reply.body.toString()) as { data: Listed[] }).data;
  };
  const one = async (gateway: GatewayProcess, id: string): Promise<Listed | undefined> =>
    (await listed(gateway)).find(request => request.request_id === id);
  const post = (gateway: GatewayProcess, path: string, body: object = {}) =>
    fetch(`http://127.0.0.1:${gateway.port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('are listed with their places, stopped wherever they are, and given another priority', async () => {
    const running = ids(SLOTS, 'r').map(id => chat(a, id));
    await cluster.until('all slots are taken', () => cluster.server.running === SLOTS);
    const waiting: Promise<ChatAnswer>[] = [];
    for (const [gateway, id] of [
      [a, 'w1'],
      [b, 'w2'],
      [a, 'w3'],
    ] as const) {
      waiting.push(chat(gateway, id));
      await cluster.until(`${id} waits`, async () => (await one(b, id)) !== undefined);
    }
    for (const gateway of [a, b]) {
      const all = await listed(gateway);
      expect(all.filter(({ state }) => state === 'running')).toHaveLength(SLOTS);
      const queued = all.filter(({ state }) => state === 'queued');
      expect(queued.map(({ request_id, position }) => [request_id, position])).toEqual([
        ['w1', 1],
        ['w2', 2],
        ['w3', 3],
      ]);
      const metrics = await gateway.scrape();
      expect(metrics.sum('scheduler_queue_depth', 'model="chat"')).toBe(3);
    }

    expect((await post(b, '/admin/v1/requests/w3/priority', { priority: 'realtime' })).status).toBe(
      200,
    );
    await cluster.until('w3 is first', async () => (await one(b, 'w3'))?.position === 1);
    expect((await one(a, 'w3'))?.priority).toBe('realtime');

    expect((await post(b, '/v1/requests/w1/cancel')).status).toBe(200);
    expect((await waiting[0])!.status).toBe(499);
    expect((await post(b, '/v1/requests/r1/cancel')).status).toBe(200);
    expect((await running[0]!).status).toBe(499);
    await cluster.until('its slot is taken again', () =>
      cluster.server.chats.some(({ said }) => said === 'w3'),
    );
    const rest = await Promise.all([...running.slice(1), ...waiting.slice(1)]);
    expect(rest.map(({ status }) => status)).toEqual(rest.map(() => 200));
    expect(cluster.server.chats.map(({ said }) => said).slice(SLOTS)).toEqual(['w3', 'w2']);
    expect(cluster.server.most).toBe(SLOTS);
    expect(await listed(b)).toEqual([]);
  });

  it('count in places, forecasts, explanations and refusals everywhere, and are stopped together', async () => {
    cluster.server.holdMs = 400;
    const known = [a, b].map(gateway => chat(gateway, `known${gateway.port}`));
    expect((await Promise.all(known)).map(({ status }) => status)).toEqual([200, 200]);
    cluster.server.holdMs = 60_000;
    const running = ids(SLOTS, 'busy').map(id => chat(a, id));
    await cluster.until('all slots are taken', () => cluster.server.running === SLOTS);
    const names = ids(2 * SLOTS, 'first');
    const waiting = names.map(id => chat(a, id));
    await cluster.until('they wait', async () => (await listed(b)).length === 3 * SLOTS);
    waiting.push(chat(b, 'mine'));
    await cluster.until('it waits', async () => (await one(a, 'mine')) !== undefined);

    const read = async (gateway: GatewayProcess, path: string): Promise<Explained> =>
      JSON.parse((await gateway.call('GET', path)).body.toString()) as Explained;
    // A heartbeat tells a gateway what the other one has.
    await cluster.until('the other one knows what runs', async () => {
      const { slots } = await read(b, '/v1/requests/mine/explain');
      return slots?.in_use === SLOTS && slots.total === SLOTS;
    });
    for (const gateway of [a, b])
      for (const path of ['/v1/requests/mine/explain', '/admin/v1/requests/mine/explain'])
        expect(await read(gateway, path)).toMatchObject({
          position: 2 * SLOTS + 1,
          forecast: { basis: 'drain_rate', start_in_ms: { p50: expect.any(Number) } },
          ahead: { requests: 2 * SLOTS, by: { age: 2 * SLOTS } },
        });
    const refused = await cluster.chat(b, 'late', {
      headers: { 'x-deadline-ms': '1000', 'x-priority': 'batch' },
    });
    expect(refused.body).toMatch(/deadline_unreachable/);
    expect(refused.body).toMatch(/\([1-9]\d* ms until it starts\)/);

    const stopped = await post(b, '/admin/v1/requests/cancel', { model: 'chat', state: 'queued' });
    const { cancelled } = (await stopped.json()) as { cancelled: string[] };
    expect(cancelled.sort()).toEqual([...names, 'mine'].sort());
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(
      waiting.map(() => 499),
    );
    await post(a, '/admin/v1/requests/cancel', { all: true });
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(
      running.map(() => 499),
    );
    const served = cluster.server.chats.map(({ said }) => said);
    expect(served.filter(said => [...names, 'mine', 'late'].includes(said))).toEqual([]);
  });
});
