import { afterEach, expect, it } from '@jest/globals';
import { type ChatAnswer, ChatCluster, SLOTS } from '../../support/chat-cluster.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { ids } from '../../support/scheduler-harness.js';

describeWith(REDIS)('chats at several gateways before one server', () => {
  let cluster: ChatCluster;
  afterEach(() => cluster[Symbol.asyncDispose]());

  it.each([2, 4])('of %i gateways: all its slots, and never more', async count => {
    cluster = await ChatCluster.start(count);
    const names = ids(40 * count);
    const answers = await Promise.all(
      names.map((name, at) => cluster.chat(cluster.gateways[at % count]!, name)),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    expect(cluster.server.chats.map(({ said }) => said).sort()).toEqual(names.toSorted());
    expect(cluster.server.most).toBe(SLOTS);
  });

  it('REALTIME goes first, whichever gateway has it', async () => {
    cluster = await ChatCluster.start(2, { holdMs: 200 });
    const [a, b] = cluster.gateways as [(typeof cluster.gateways)[0], (typeof cluster.gateways)[0]];
    const batch = ids(3 * SLOTS, 'b').map(name =>
      cluster.chat(a, name, { headers: { 'x-priority': 'batch' } }),
    );
    await cluster.until('all slots are taken', () => cluster.server.running === SLOTS);
    const urgent = ids(SLOTS, 'u').map(name =>
      cluster.chat(b, name, { headers: { 'x-priority': 'realtime' } }),
    );
    const answers: ChatAnswer[] = await Promise.all([...batch, ...urgent]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const second = cluster.server.chats.slice(SLOTS, 2 * SLOTS).map(({ said }) => said[0]);
    expect(second).toEqual(Array(SLOTS).fill('u'));
    expect(cluster.server.most).toBe(SLOTS);
  });
});
