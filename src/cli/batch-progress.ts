import { stderr } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { SingleBar } from 'cli-progress';
import { type BatchDto } from '../contracts/openai/batch.dto.js';
import { type BatchClient, hasEnded } from './batch-client.js';
import { durationText } from './shared/durations.js';
import { ProgressLine } from './shared/terminal.js';

const POLL_MS = 500;
const BAR =
  ' {bar} {percentage}% | {value}/{total} lines | {failed} failed | {rate} | ETA {remaining} | {status}';

/**
 * Watches a batch to its end: a bar on a terminal, a line per change elsewhere. Ctrl-C
 * ends the watching, not the batch.
 */
export async function watch(
  client: BatchClient,
  first: BatchDto,
  signal: AbortSignal,
): Promise<BatchDto> {
  const progress = stderr.isTTY ? new ProgressBar() : new PlainProgress();
  try {
    for (let batch = first; ; batch = await client.find(batch.id)) {
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

class ProgressBar {
  #bar: SingleBar | undefined;

  show({
    request_counts: { total, completed, failed },
    status,
    rate_per_s: rate,
    eta_s: eta,
  }: BatchDto): void {
    // The number of lines is not known yet; an empty bar would be full.
    if (total === 0) return;
    const words = { failed, status, rate: rateText(rate), remaining: durationText(eta) };
    if (this.#bar) this.#bar.setTotal(total);
    else this.#begin(total, words);
    this.#bar?.update(completed + failed, words);
  }

  stop(): void {
    this.#bar?.stop();
  }

  #begin(total: number, words: object): void {
    this.#bar = new SingleBar({
      format: BAR,
      hideCursor: true,
      clearOnComplete: true,
      stream: stderr,
    });
    this.#bar.start(total, 0, words);
  }
}

class PlainProgress {
  readonly #line = new ProgressLine();

  show({
    request_counts: { total, completed, failed },
    status,
    rate_per_s: rate,
    eta_s: eta,
  }: BatchDto): void {
    const pace =
      status === 'in_progress' ? `, ${rateText(rate)}, ETA ${durationText(eta)}` : '';
    this.#line.show(
      `${status}: ${completed + failed}/${total} lines, ${failed} failed${pace}`,
    );
  }

  stop(): void {
    this.#line.clear();
  }
}
