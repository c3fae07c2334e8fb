import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { settingsFrom } from '../../platform/config/settings.js';
import { type JobStore } from '../../platform/database/job-store.js';
import { type WebhookSender } from '../finalize/webhook-sender.js';
import { type LineGrace } from '../lease/job-stop.js';
import { type JobMetrics } from '../observe/job.metrics.js';
import { BatchProcessor } from './batch-processor.js';
import { type JobSupervisor } from './job-supervisor.js';

Logger.overrideLogger(false);

const NO_FOLDER = '/nowhere/switchyard';
const loops: BatchProcessor[] = [];

afterEach(async () => void (await Promise.all(loops.splice(0).map(loop => loop.stop()))));

/** A processor without batches that counts its looks for them. */
function idleLoop(pollMs: number, isWoken: boolean) {
  const counted = { looks: 0 };
  const claim = () => Promise.resolve(void (counted.looks += 1));
  const supervisor = {
    size: 0,
    claim,
    wake: () => undefined,
    stop: () => undefined,
  } as unknown as JobSupervisor;
  const settings = settingsFrom({ 'batch.poll_ms': pollMs, 'data.dir': NO_FOLDER });
  const unfinishedAmong = () => Promise.resolve(new Set<string>());
  const loop = new BatchProcessor(
    settings,
    { unfinishedAmong } as unknown as JobStore,
    supervisor,
    { start: () => undefined, stop: () => undefined } as unknown as WebhookSender,
    {} as LineGrace,
    {} as JobMetrics,
  );
  loops.push(loop);
  void loop.start(isWoken);
  return { counted, loop };
}

const until = async (isTrue: () => boolean) => {
  while (!isTrue()) await pause(1);
};

describe('ClaimLoop without batches', () => {
  it('looks at every fifth time when its gateway wakes it', async () => {
    const [alone, woken] = [idleLoop(20, false), idleLoop(20, true)];
    await until(() => alone.counted.looks === 50);
    expect(woken.counted.looks).toBeGreaterThan(3);
    expect(woken.counted.looks).toBeLessThan(25);
  });

  it('looks at once when it is woken', async () => {
    const { counted, loop } = idleLoop(3_600_000, true);
    await until(() => counted.looks === 1);
    loop.wake();
    await until(() => counted.looks === 2);
  });
});
