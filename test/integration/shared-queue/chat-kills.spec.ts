import { afterEach, expect, it } from '@jest/globals';
import { HEARTBEAT_MS } from '@switchyard/shared-queue/heartbeat.js';
import { type ChatAnswer, ChatCluster, SLOTS } from '../../support/chat-cluster.js';
import { type GatewayProcess } from '../../support/gateway-process.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { pause } from '../../support/waiting.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';

/** Chats that one gateway always has, of each tenant. */
const WAITING = 2 * SLOTS;
const KILLS = 3;

describeWith(REDIS)('chats while gateways come and are killed', () => {
  let cluster: ChatCluster;
  let isOver = false;
  let sent = 0;
  afterEach(() => cluster[Symbol.asyncDispose]());

  /** Chats of one tenant at one gateway, as many as `WAITING` at a time. */
  function load(gateway: GatewayProcess, name: string, headers: Record<string, string>) {
    const answers: ChatAnswer[] = [];
    const one = async (): Promise<void> => {
      while (!isOver) {
        const said = `${name} ${(sent += 1)}`;
        const answer = await cluster.chat(gateway, said, { headers, stream: sent % 2 === 0 });
        answers.push(answer);
        if (answer.status === 0) return;
      }
    };
    return { answers, ended: Promise.all(Array.from({ length: WAITING }, one)) };
  }
  /** Two seconds in which the slots are used: on a busy machine the first ones may not be. */
  const busy = async () => {
    const window = { fromMs: 0, toMs: 0 };
    await cluster.until('the slots are used', async () => {
      window.fromMs = performance.now();
      await pause(2000);
      window.toMs = performance.now();
      return cluster.server.average(window.fromMs, window.toMs) > 0.85 * SLOTS;
    });
    return window;
  };
  /** Chats that began at the server in the next milliseconds. */
  const begun = async (ms: number): Promise<number> => {
    const before = cluster.server.chats.length;
    await pause(ms);
    return cluster.server.chats.length - before;
  };

  it('none is lost or sent twice, the server never has more than its slots, tenants share', async () => {
    const keys = new KeysFolder();
    const tenants = ['a', 'b'].map(name => ({
      name,
      headers: { 'x-priority': 'batch', ...bearer(keys.add(name, 'inference')) },
    }));
    cluster = await ChatCluster.start(1, {
      holdMs: 400,
      settings: { 'auth.keys_file': keys.file },
    });
    const begin = (gateway: GatewayProcess) =>
      tenants.map(({ name, headers }) => load(gateway, name, headers));
    const survivor = cluster.gateways[0]!;
    const kept = begin(survivor);
    const all = [...kept];
    for (let more = 0; more < KILLS; more++) all.push(...begin(await cluster.add()));
    const shared = await busy();
    for (const victim of cluster.gateways.slice(1)) {
      await cluster.kill(victim);
      await pause(1000);
    }
    await pause(4000);
    const alone = await busy();
    isOver = true;
    await Promise.all(all.map(({ ended }) => ended));

    expect(cluster.server.most).toBe(SLOTS);
    const said = cluster.server.chats.map(chat => chat.said);
    expect(new Set(said).size).toBe(said.length);
    for (const { answers } of kept)
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    const apart = (fromMs: number, toMs: number): number => {
      const served = (tenant: string): number =>
        cluster.server.chats.filter(
          chat => chat.said.startsWith(tenant) && chat.fromMs >= fromMs && chat.fromMs < toMs,
        ).length;
      return Math.abs(served('a') - served('b'));
    };
    for (const { fromMs, toMs } of [shared, alone]) {
      expect(cluster.server.average(fromMs, toMs)).toBeGreaterThan(0.85 * SLOTS);
      expect(apart(fromMs, toMs)).toBeLessThanOrEqual(SLOTS / 2);
    }
    // Nobody pays for what a gateway ran that was killed.
    expect(apart(0, alone.toMs)).toBeLessThanOrEqual(KILLS * SLOTS);
  });

  it.each(['killed', 'hangs'])('go on while Redis %s, and after it is back', async how => {
    isOver = false;
    cluster = await ChatCluster.start(2, { holdMs: 400 });
    const all = cluster.gateways.map((gateway, at) => load(gateway, `g${at}`, {}));
    await cluster.until('all slots are taken', () => cluster.server.running === SLOTS);
    // Two heartbeats: each knows of the other.
    await pause(2 * HEARTBEAT_MS + 1000);
    if (how === 'killed') await cluster.redis.kill();
    else cluster.redis.pause();
    // Three heartbeats, and as long as a command may take.
    await cluster.until('they are sent again', async () => (await begun(1000)) >= SLOTS);
    const ready = await cluster.gateways[0]!.call('GET', '/health/ready');
    expect([ready.status, ready.body.toString()]).toEqual([
      200,
      expect.stringContaining('degraded'),
    ]);
    if (how === 'killed') await cluster.redis.restart();
    else cluster.redis.resume();
    await begun(8000);
    const most = cluster.server.most;
    cluster.server.most = 0;
    await cluster.until('all slots are used again', async () => (await begun(2000)) > 3 * SLOTS);
    isOver = true;
    await Promise.all(all.map(({ ended }) => ended));

    // In the moment of the break one gateway may have more than its share.
    expect(most).toBeLessThanOrEqual(SLOTS + SLOTS / 2);
    expect(cluster.server.most).toBeLessThanOrEqual(SLOTS);
    const said = cluster.server.chats.map(chat => chat.said);
    expect(new Set(said).size).toBe(said.length);
    const failed = all.flatMap(({ answers }) => answers.filter(({ status }) => status !== 200));
    expect(failed).toEqual([]);
  });
});
