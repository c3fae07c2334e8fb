import { afterEach, expect, it } from '@jest/globals';
import { maxMessageBytes } from '@switchyard/worker-protocol/message-size.js';
import { slotsOf } from '@switchyard/worker-protocol/worker-slots.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { SETTINGS_TABLE } from '../../../src/platform/config/settings.js';
import { probeWorker } from '../../../src/worker-client/worker-health.js';
import { ChatCluster, SLOTS } from '../../support/chat-cluster.js';
import { type GatewayProcess } from '../../support/gateway-process.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { pause } from '../../support/waiting.js';
import { llamaLlm, syntheticEmbedding } from '../generation/generation-rig.js';
import { linkTo } from '../worker/worker-link.js';
import { WorkerProcess } from '../worker/worker-process.js';

const LLAMA = await llamaLlm(['chat']);
const WORDS = syntheticModel(
  { baseMs: 100, perTokenMs: 10, tokens: 20, maxConcurrent: 3 },
  { id: 'words', kind: 'llm', capabilities: ['chat'] },
);
const VECTORS = syntheticEmbedding({ baseMs: 20 });
/** Gateways refuse a worker that takes less. */
const UPLOAD_LIMIT_BYTES = SETTINGS_TABLE['server.upload_limit_bytes'].default;
/** Requests that a gateway always has of each model. */
const CALLERS = 6;
const MORE = 2;

describeWith(REDIS)('text and embeddings while gateways come and are killed', () => {
  let cluster: ChatCluster;
  let workers: WorkerProcess[] = [];
  let isOver = false;
  afterEach(async () => {
    isOver = true;
    await cluster[Symbol.asyncDispose]();
    for (const { child, exited } of workers) {
      child.kill('SIGKILL');
      await exited;
    }
    workers = [];
  });

  /** Its model, sent to that process by every gateway, and the most that it had at once. */
  async function started(model: ModelSpec) {
    const worker = new WorkerProcess({
      model,
      maxMessageBytes: maxMessageBytes(UPLOAD_LIMIT_BYTES),
    });
    workers.push(worker);
    const address = await worker.ready();
    const link = linkTo(address);
    const { credits, overdraft } = slotsOf(await probeWorker(link, 'llm', 5000));
    const seen = { most: 0, slots: credits + overdraft };
    const watched = (async () => {
      for (; !isOver; await pause(20))
        seen.most = Math.max(seen.most, (await probeWorker(link, 'llm', 5000)).inFlight);
      link.retire();
    })();
    return { model: { ...model, replicas: 0, addresses: [address] }, seen, watched };
  }

  /** Until the end, or until the gateway is killed: what each caller was answered. */
  function load(gateway: GatewayProcess) {
    const statuses: number[] = [];
    const caller = async (send: (nth: number) => Promise<number>) => {
      for (let nth = 0; !isOver; nth++) {
        const status = await send(nth);
        statuses.push(status);
        if (status === 0) return;
      }
    };
    const chat = (model: string, at: number) => async (nth: number) => {
      const headers = { 'x-priority': (at + nth) % 3 === 0 ? 'realtime' : 'batch' };
      const options = { headers, model, stream: nth % 2 === 0, maxTokens: 20 };
      return (await cluster.chat(gateway, `${gateway.port} ${model} ${at} ${nth}`, options)).status;
    };
    const embed = async () => {
      const answer = await fetch(`http://127.0.0.1:${gateway.port}/v1/embeddings`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: VECTORS.id, input: 'a' }),
      }).catch(() => undefined);
      await answer?.arrayBuffer().catch(() => undefined);
      return answer?.status ?? 0;
    };
    const callers = Array.from({ length: CALLERS }, (_, at) => at).flatMap(at => [
      ...['chat', LLAMA.id, WORDS.id].map(model => caller(chat(model, at))),
      caller(embed),
    ]);
    return { statuses, ended: Promise.all(callers) };
  }

  it('llama.cpp, a synthetic worker and a server have no more than their slots, and nothing is lost', async () => {
    const [llama, words] = [await started(LLAMA), await started(WORDS)];
    cluster = await ChatCluster.start(1, {
      holdMs: 200,
      models: [llama.model, words.model, VECTORS],
    });
    const kept = load(cluster.gateways[0]!);
    const others = [];
    for (let more = 0; more < MORE; more++) others.push(load(await cluster.add()));
    await pause(4000);
    for (const victim of cluster.gateways.slice(1)) {
      await cluster.kill(victim);
      await pause(1000);
    }
    // A heartbeat more than until the dead have given back their slots.
    await pause(4000);
    isOver = true;
    await Promise.all([kept, ...others].map(({ ended }) => ended));
    await Promise.all([llama.watched, words.watched]);

    expect(kept.statuses.filter(status => status !== 200)).toEqual([]);
    for (const { statuses } of others) expect(new Set(statuses)).toEqual(new Set([200, 0]));
    expect(cluster.server.most).toBe(SLOTS);
    const said = cluster.server.chats.map(chat => chat.said);
    expect(new Set(said).size).toBe(said.length);
    for (const { seen } of [llama, words]) {
      expect(seen.most).toBeGreaterThan(1);
      expect(seen.most).toBeLessThanOrEqual(seen.slots);
    }
  });
});
