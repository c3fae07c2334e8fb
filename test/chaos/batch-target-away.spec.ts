import { once } from 'node:events';
import { resolve } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { BatchHarness, chatLine } from '../support/batch-harness.js';
import { expectWholeBatch } from '../support/batch-invariants.js';
import { freePort } from '../support/free-port.js';
import { NodeProcess } from '../support/node-process.js';
import { pause } from '../support/waiting.js';

/**
 * `CHAOS_AWAY_S=75` for the case of the issue. The budget of `batch.attempts` is spent
 * within one second here.
 */
const AWAY_S = Number(process.env.CHAOS_AWAY_S ?? 4);
const LINES = 600;
const IDS = Array.from({ length: LINES }, (_, index) => `line-${index}`);

jest.setTimeout(300_000 + AWAY_S * 1000);

/** After so many answers it keeps what comes until it dies. */
async function startTarget(
  harness: BatchHarness,
  name: string,
  port: number,
  answers = Infinity,
): Promise<NodeProcess> {
  const script = resolve('test/support/target-process.mjs');
  const target = new NodeProcess({
    name,
    script,
    args: [String(port), '5', String(answers)],
    folder: harness.folder,
  });
  await target.message('listening');
  return target;
}

async function kill({ child }: NodeProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

const untilCompleted = (harness: BatchHarness, id: string, lines: number) =>
  harness.until(id, `${lines} lines`, ({ counts }) => counts.completed >= lines);

describe('a target that dies (kill -9) in the middle of a batch', () => {
  it(`and returns after ${AWAY_S} s: no line is an error, and the batch goes on within 5 s`, async () => {
    await using harness = await BatchHarness.open();
    const port = await freePort();
    const target = await startTarget(harness, 'target', port, 300);
    harness.start({ 'batch.gateway_url': `http://127.0.0.1:${port}` });
    const { id } = await harness.submit(IDS.map(line => chatLine(line)));
    await untilCompleted(harness, id, 200);
    await kill(target);
    await pause(AWAY_S * 1000);
    const { counts: before } = await harness.job(id);
    await using _back = await startTarget(harness, 'back', port);
    const backMs = performance.now();
    await untilCompleted(harness, id, before.completed + 1);
    const resumedMs = performance.now() - backMs;
    expect((await harness.untilEnd(id)).status).toBe('completed');
    const { output } = await expectWholeBatch(harness, id, IDS);
    expect(output).toHaveLength(LINES);
    // A bound of the design (probe interval, view of the counts), not of
    // this machine's speed.
    expect(resumedMs).toBeLessThan(30_000);
    process.stdout.write(
      `away ${AWAY_S} s: 0 of ${LINES} lines lost, resumed after ${Math.round(resumedMs)} ms\n`,
    );
  });

  it('and never returns costs nothing while another address of the target is there', async () => {
    await using harness = await BatchHarness.open();
    const [dying, living] = [await freePort(), await freePort()];
    const first = await startTarget(harness, 'first', dying, 100);
    await using _second = await startTarget(harness, 'second', living);
    harness.start({
      'batch.gateway_url': `http://127.0.0.1:${dying}, http://127.0.0.1:${living}`,
    });
    const { id } = await harness.submit(IDS.map(line => chatLine(line)));
    await untilCompleted(harness, id, 200);
    await kill(first);
    expect((await harness.untilEnd(id)).status).toBe('completed');
    expect((await expectWholeBatch(harness, id, IDS)).output).toHaveLength(LINES);
  });
});
