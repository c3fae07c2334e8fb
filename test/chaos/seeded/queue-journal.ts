import { redisClient } from '../../support/redis-client.js';
import { type Ledger } from './ledger.js';
import { type Topology } from './topology.js';

const JOURNAL = 'switchyard:requests-synthetic:events';

/**
 * No job of the shared queue ended with a result twice, by the journal that BullMQ keeps
 * of its queue. A caller who left is a cancel, which ends a job, too; what is sent again
 * under its id is a new one. The journal is emptied: only the ledger of the episode
 * knows who left.
 */
export async function expectComputedOnce(topology: Topology, ledger: Ledger): Promise<void> {
  const [server] = topology.of('redis');
  if (!server) return;
  const redis = redisClient(`redis://127.0.0.1:${server.spec.port}`, { maxRetriesPerRequest: 20 });
  try {
    const entries = await redis.xrange(JOURNAL, '-', '+');
    await redis.xtrim(JOURNAL, 'MAXLEN', 0);
    const done = entries.flatMap(([, flat]) => completedJob(flat));
    const may = (id: string): boolean => ledger.mayRunAgain.has(id);
    const again = done.filter((id, at) => done.indexOf(id) !== at && !may(id));
    if (again.length > 0) ledger.note('twice', `jobs with two results: ${again.join(', ')}`);
  } finally {
    redis.disconnect();
  }
}

/** @param flat keys and values of one entry, in turn */
function completedJob(flat: readonly string[]): string[] {
  const fields = new Map(flat.flatMap((key, at) => (at % 2 === 0 ? [[key, flat[at + 1]!]] : [])));
  const hasResult =
    fields.get('event') === 'completed' &&
    fields.get('returnvalue')!.includes('"outcome":"completed"');
  return hasResult ? [fields.get('jobId')!] : [];
}
