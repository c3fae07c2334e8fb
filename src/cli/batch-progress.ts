import { stderr } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { SingleBar } from 'cli-progress';
import { type Batch, hasEnded } from './batch-results.js';
import { durationText } from './shared/durations.js';
import { type GatewayClient } from './shared/gateway-client.js';
import { ProgressLine } from './shared/terminal.js';

const POLL_MS = 500;
const BAR =
  ' {bar} {percentage}% | {value}/{total} lines | {failed} failed | {rate} | ETA {remaining} | {status}';

/**
 * Watches a batch to its end: a bar on a terminal, a line per change elsewhere. Ctrl-C
 * ends the watching, not the batch.
 */
export async function watch(
  client: GatewayClient,
  first: Batch,
  signal: AbortSignal,
): Promise<Batch> {
  const progress = new BatchProgress();
  try {
    let batch = first;
    for (; ; batch = await client.call('get', '/v1/batches/{id}', { id: batch.id })) {
      progress.show(batch);
      if (hasEnded(batch)) return batch;
      await sleep(POLL_MS, undefined, { signal });
    }
  } finally {
    progress.stop();
  }
}

/** 0.42 lines/s, 12.3 lines/s; a dash while unknown. */
export const rateText = (rate: number | null): string =>
  rate === null ? '-' : `${Number(rate.toPrecision(3))} lines/s`;

class BatchProgress {
  readonly #line = new ProgressLine();
  #bar: SingleBar | undefined;

  show({ request_counts: counts, status, rate_per_s, eta_s }: Batch): void {
    const { total, failed } = counts;
    const done = counts.completed + failed;
    const [rate, remaining] = [rateText(rate_per_s), durationText(eta_s)];
    if (!stderr.isTTY) {
      const pace = status === 'in_progress' ? `, ${rate}, ETA ${remaining}` : '';
      this.#line.show(`${status}: ${done}/${total} lines, ${failed} failed${pace}`);
    } else if (total > 0) {
      // While the number of lines is not known, an empty bar would be full.
      const words = { failed, status, rate, remaining };
      this.#bar ??= startedBar(total, words);
      this.#bar.setTotal(total);
      this.#bar.update(done, words);
    }
  }

  stop(): void {
    this.#bar?.stop();
    this.#line.clear();
  }
}

function startedBar(total: number, words: object): SingleBar {
  const bar = new SingleBar({
    format: BAR,
    hideCursor: true,
    clearOnComplete: true,
    stream: stderr,
  });
  bar.start(total, 0, words);
  return bar;
}
