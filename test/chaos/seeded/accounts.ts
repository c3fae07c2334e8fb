import { pause } from '../../support/waiting.js';
import { untilEmpty } from './aftermath.js';
import { jsonPost } from './interactive-operations.js';
import { type Ledger } from './ledger.js';
import { type Topology } from './topology.js';
import { TENANTS } from './traffic.js';

/** Requests of one tenant that wait at once, and of the other that come behind them. */
const [MANY, FEW] = [96, 16];
/** So many wait by then. */
const WAITING = 48;
/**
 * Mean wait of the few, of the longest of the many: in turn about a half, first come first
 * served nearly all of it.
 */
const MOST_OF_WAIT = 0.75;
const ANSWER_MS = 60_000;
const WRITTEN_MS = 15_000;
const QUEUED_MS = 10_000;

/** Each gateway writes what was used every five seconds. */
const WRITTEN_EVERY_MS = 6000;

/** What the episodes before used has been written, and is not charged to the next one. */
export const usageWritten = (): Promise<void> => pause(WRITTEN_EVERY_MS);

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
 * @param mayRepeat a processor was lost: lines that it had not written are computed again
 */
export async function expectUsage(
  topology: Topology,
  ledger: Ledger,
  before: ReadonlyMap<string, number>,
  mayRepeat: boolean,
): Promise<void> {
  const wrong = await untilEmpty(() => misjudged(topology, ledger, before, mayRepeat), WRITTEN_MS);
  for (const text of wrong) ledger.note('usage', text);
}

async function misjudged(
  topology: Topology,
  ledger: Ledger,
  before: ReadonlyMap<string, number>,
  mayRepeat: boolean,
): Promise<readonly string[]> {
  const after = await usageByTenant(topology);
  return TENANTS.flatMap(tenant => {
    const charged = (after.get(tenant) ?? 0) - (before.get(tenant) ?? 0);
    const completed = ledger.completed.get(tenant) ?? 0;
    const cancelled = ledger.cancelled.get(tenant) ?? 0;
    const isRight = charged >= completed && (mayRepeat || charged <= completed + cancelled);
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
  const ask = async (tenant: string, number: number): Promise<number> => {
    const answer = await chat(topology, tenant, number);
    const text = await answer.text();
    if (!answer.ok) ledger.note('shares', `${tenant} is answered ${answer.status} ${text}`);
    return Number(answer.headers.get('x-switchyard-queue-ms'));
  };
  const many = Promise.all(Array.from({ length: MANY }, (_, number) => ask(busy, number)));
  await untilEmpty(async () => ((await waiting(topology)) < WAITING ? ['too few'] : []), QUEUED_MS);
  const few = await Promise.all(Array.from({ length: FEW }, (_, number) => ask(late, number)));
  const mean = few.reduce((sum, ms) => sum + ms, 0) / FEW;
  const longest = Math.max(...(await many));
  if (mean > MOST_OF_WAIT * longest)
    ledger.note(
      'shares',
      `${FEW} of ${late} waited ${Math.round(mean)} ms on average, behind ${MANY} of ${busy}: ${longest} ms at most`,
    );
}

async function waiting(topology: Topology): Promise<number> {
  const scrapes = await Promise.all(topology.gatewayUrls.map(url => topology.scrape(url)));
  return scrapes.reduce((sum, scrape) => sum + scrape.sum('scheduler_queue_depth'), 0);
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
