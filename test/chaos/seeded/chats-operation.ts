import { seededRandom } from '../../bench/support/seeded-random.js';
import { streamUpstream, upstreamChat } from './interactive-operations.js';
import { type Ledger } from './ledger.js';
import { UPSTREAM_SLOTS } from './models.js';
import { type Operation } from './operation.js';
import { type EpisodePlan } from './plan.js';
import { type Topology } from './topology.js';

/** Of one caller at the same time: two callers want more than the slots. */
export const CHATS = 6;

/** Chats and streams at the upstream at the same time, at whichever gateways. */
export const chats: Operation = async turn => {
  // What each draws is its own, whoever is answered first.
  const seeds = Array.from({ length: CHATS }, () => Math.floor(turn.random() * 2 ** 32));
  await Promise.all(
    seeds.map((seed, at) => {
      const one = { ...turn, id: `${turn.id}-${at}`, random: seededRandom(seed) };
      return at % 2 === 0 ? upstreamChat(one) : streamUpstream(one);
    }),
  );
};

/**
 * Requests that the upstream may have had at the same time. Where it did not see that a gateway
 * gave one up, they are not counted.
 */
function mostAtUpstream({ faults }: EpisodePlan): number {
  const has = (pattern: RegExp): boolean => faults.some(({ name }) => pattern.test(name));
  if (has(/^(freeze|half-open|link)-upstream$/)) return Infinity;
  if (has(/^freeze-gateway$/)) return 2 * UPSTREAM_SLOTS;
  return has(/redis/) ? 1.5 * UPSTREAM_SLOTS : UPSTREAM_SLOTS;
}

/** All gateways together sent no more to the upstream than it has slots (D-58). */
export async function expectSlots(
  topology: Topology,
  plan: EpisodePlan,
  ledger: Ledger,
): Promise<void> {
  const answer = await fetch(`${topology.upstreamUrl}/peak`);
  const { peak } = (await answer.json()) as { peak: number };
  const most = mostAtUpstream(plan);
  if (peak > most) ledger.note('slots', `the upstream had ${peak} requests at once, not ${most}`);
}
