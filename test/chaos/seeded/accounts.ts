import { untilEmpty } from './aftermath.js';
import { jsonPost } from './interactive-operations.js';
import { type Ledger } from './ledger.js';
import { type Topology } from './topology.js';
import { TENANTS } from './traffic.js';

/** Requests of one tenant that wait at once, and of the other that come a moment later. */
const [MANY, FEW] = [96, 16];
/** In the middle of the first round of 16. */
const LATER_MS = 200;
/**
 * How many of all may be answered before the last of the few: two rounds of 16 that were
 * already let in, the few, as many of the many in turn, and a round to spare. First come
 * first served: 112.
 */
const FEW_ARE_DONE = 80;
const ANSWER_MS = 60_000;
const WRITTEN_MS = 15_000;

/** Completed requests by tenant, since these processes and their data began. */
export async function usageByTenant(topology: Topology): Promise<ReadonlyMap<string, number>> {
  const { data } = await topology.operations<{
    readonly data: readonly { readonly tenant: string; readonly completed: number }[];
  }>('/admin/v1/usage?group_by=tenant');
  return new Map(data.map(({ tenant, completed }) => [tenant, completed]));
}

/**
 * After traffic without a fault that anybody noticed: each tenant is charged for what was
 * completed for it, and for nothing else. Realtime sessions are charged by their audio.
 */
export async function expectUsage(
  topology: Topology,
  ledger: Ledger,
  before: ReadonlyMap<string, number>,
): Promise<void> {
  // Each gateway writes its own every five seconds.
  const wrong = await untilEmpty(() => misjudged(topology, ledger, before), WRITTEN_MS);
  for (const text of wrong) ledger.note('usage', text);
}

async function misjudged(
  topology: Topology,
  ledger: Ledger,
  before: ReadonlyMap<string, number>,
): Promise<readonly string[]> {
  const after = await usageByTenant(topology);
  return TENANTS.flatMap(tenant => {
    const charged = (after.get(tenant) ?? 0) - (before.get(tenant) ?? 0);
    const completed = ledger.completed.get(tenant) ?? 0;
    const cancelled = ledger.cancelled.get(tenant) ?? 0;
    const isRight = charged >= completed && charged <= completed + cancelled;
    const counts = `${completed} completed, ${cancelled} cancelled`;
    return isRight ? [] : [`${tenant}: ${charged} requests are charged, ${counts}`];
  });
}

/**
 * One tenant fills the queue, the other one comes later with a few: these are answered in
 * turn, not after all of the others.
 */
export async function expectShares(topology: Topology, ledger: Ledger): Promise<void> {
  const [busy, late] = TENANTS;
  const order: string[] = [];
  const ask = async (tenant: string, number: number): Promise<void> => {
    const answer = await chat(topology, tenant, number);
    if (answer.ok) order.push(tenant);
    else ledger.note('shares', `${tenant} is answered ${answer.status} ${await answer.text()}`);
  };
  const asked = Array.from({ length: MANY }, (_, number) => ask(busy, number));
  await new Promise(resolve => setTimeout(resolve, LATER_MS));
  asked.push(...Array.from({ length: FEW }, (_, number) => ask(late, number)));
  await Promise.all(asked);
  const last = order.lastIndexOf(late) + 1;
  if (last > FEW_ARE_DONE)
    ledger.note(
      'shares',
      `the ${FEW} of ${late} are answered after ${last} of all, beside ${MANY} of ${busy}`,
    );
}

function chat(topology: Topology, tenant: string, number: number): Promise<Response> {
  const body = {
    ...{ model: 'synthetic-llm', temperature: 0 },
    messages: [{ role: 'user', content: `${tenant} asks for its share, ${number}` }],
  };
  const { path, ...sent } = { path: '/v1/chat/completions', ...jsonPost(body) };
  const headers = { ...sent.headers, authorization: `Bearer ${topology.keys[tenant]!}` };
  const signal = AbortSignal.timeout(ANSWER_MS);
  return fetch(topology.url + path, { ...sent, headers, signal });
}
