import { type EpisodeResult } from './episode.js';
import { type EpisodePlan, type PlannedFault } from './plan.js';

const faultText = ({ name, atMs, ms }: PlannedFault): string =>
  `${name} at ${(atMs / 1000).toFixed(1)} s${ms > 0 ? ` for ${ms / 1000} s` : ''}`;

export const planText = ({ seed, topology, faults }: EpisodePlan): string =>
  `seed ${seed}, ${topology}: ${faults.map(faultText).join(', ')}`;

/** One line, and for an episode that failed what happened and where its logs are. */
export function episodeText(result: EpisodeResult): string {
  const { plan, settled, attempts, unanswered, ms, violations, strikes, logs } = result;
  const count = Object.values(settled).reduce((sum, each) => sum + each, 0);
  const sums = `${count} requests in ${attempts} attempts, ${unanswered} of them without an answer, ${(ms / 1000).toFixed(1)} s`;
  const line = `${violations.length === 0 ? 'passed' : 'FAILED'}  ${planText(plan)}; ${sums}`;
  if (violations.length === 0) return line;
  const texts = violations.map(
    ({ invariant, text, atMs }) => `  ${invariant} at ${(atMs / 1000).toFixed(1)} s: ${text}`,
  );
  return [
    line,
    ...strikes.map(text => `    ${text}`),
    ...texts,
    `  logs: ${logs}`,
    `  again: npm run chaos -- --seed ${plan.seed}${plan.topology ? ` --topology ${plan.topology}` : ''}`,
  ].join('\n');
}

/** Episodes and failures of each fault, in each topology. */
export function summaryTable(results: readonly EpisodeResult[]): string {
  const rows = new Map<string, { episodes: number; failed: number }>();
  for (const { plan, violations } of results) {
    for (const name of new Set(plan.faults.map(fault => fault.name))) {
      const key = `| ${name} | ${plan.topology} `;
      const row = rows.get(key) ?? { episodes: 0, failed: 0 };
      rows.set(key, {
        episodes: row.episodes + 1,
        failed: row.failed + (violations.length > 0 ? 1 : 0),
      });
    }
  }
  const lines = [...rows]
    .sort()
    .map(
      ([key, { episodes, failed }]) => `${key}| ${episodes} | ${episodes - failed} | ${failed} |`,
    );
  return [
    '| fault | topology | episodes | passed | failed |',
    '|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}
