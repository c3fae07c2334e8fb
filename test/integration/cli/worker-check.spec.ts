import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type CheckOptions } from '@switchyard/worker-check/check.js';
import { CHECKS, type CheckResult, runChecks } from '@switchyard/worker-check/run-checks.js';
import { maxMessageBytes } from '@switchyard/worker-protocol/message-size.js';
import { httpStatusOf } from '../../../src/contracts/errors/error-registry.js';
import { SETTINGS_TABLE } from '../../../src/platform/config/settings.js';
import { freePort } from '../../support/free-port.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { WorkerProcess } from '../worker/worker-process.js';
import { runHere } from './command-run.js';

const SCRIPTED = fileURLToPath(new URL('../../support/scripted-worker.mjs', import.meta.url));
const GUIDE = 'docs/guides/write-a-worker.md';
const UPLOAD_LIMIT_BYTES = SETTINGS_TABLE['server.upload_limit_bytes'].default;
const children = new Set<ChildProcess>();

afterEach(async () => {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
  children.clear();
});

interface Running {
  readonly address: string;
  readonly pid: number;
}

/** Fast engines that take time all the same, as real ones. */
const PACES = {
  stt: { streams: 2, input: 'pcm' },
  tts: { perItemMs: 100, steps: 20 },
  llm: { perTokenMs: 5, tokens: 400 },
  embedding: { perItemMs: 10 },
} as const;

async function ownWorker(kind: keyof typeof PACES): Promise<Running> {
  const options = PACES[kind];
  const worker = new WorkerProcess({
    model: syntheticModel(options, { id: 'own', kind, capabilities: [] }),
    // As the default settings give it.
    ...{
      maxMessageBytes: maxMessageBytes(UPLOAD_LIMIT_BYTES),
      uploadLimitBytes: UPLOAD_LIMIT_BYTES,
    },
  });
  children.add(worker.child);
  return { address: await worker.ready(), pid: worker.child.pid! };
}

async function scripted(...args: string[]): Promise<Running> {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [SCRIPTED, '--strict', '--streams', '2', '--port', String(port), ...args],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  children.add(child);
  await once(createInterface({ input: child.stdout }), 'line');
  return { address: `127.0.0.1:${port}`, pid: child.pid! };
}

async function check(
  address: string,
  options: Partial<CheckOptions> = {},
  checks = CHECKS,
): Promise<readonly CheckResult[]> {
  const nothing = () => undefined;
  const { signal } = new AbortController();
  return runChecks(
    {
      address,
      remote: {},
      pingEveryMs: 100,
      cancelLimitMs: 2000,
      uploadLimitBytes: UPLOAD_LIMIT_BYTES,
      statusOf: httpStatusOf,
      ...options,
    },
    { checks, signal, onStart: nothing, onResult: nothing },
  );
}

/**
 * They move 32 and 45 MiB: only the faults that they are for are looked for with them.
 */
const LARGE = ['message-size', 'large-audio'];

const failing = (results: readonly CheckResult[]) =>
  results
    .filter(({ state }) => state === 'fail')
    .map(({ name, detail, guide }) => ({ name, detail, guide }));
const named = (results: readonly CheckResult[], wanted: CheckResult['state']) =>
  results.filter(({ state }) => state === wanted).map(({ name }) => name);

describe('switchyard worker check', () => {
  it.each([
    ['stt', []],
    ['tts', ['message-size', 'streamed-wav', 'large-audio', 'stream']],
    ['llm', ['message-size', 'streamed-wav', 'large-audio', 'stream']],
    ['embedding', ['message-size', 'streamed-wav', 'large-audio', 'stream']],
  ] as const)('passes our own worker of kind %s', async (kind, notJudged) => {
    const { address, pid } = await ownWorker(kind);
    const results = await check(address, {
      model: 'own',
      voice: 'synthetic',
      ...(kind === 'stt' && { pid }),
    });
    expect(failing(results)).toEqual([]);
    expect(named(results, 'not_judged')).toEqual(expect.arrayContaining([...notJudged]));
    if (kind === 'stt') expect(named(results, 'not_judged')).toEqual([]);
  });

  it('passes a worker that nothing is wrong with', async () => {
    const { address, pid } = await scripted('--model', 'right');
    const results = await check(address, { model: 'right', pid });
    expect(failing(results)).toEqual([]);
    expect(named(results, 'not_judged')).toEqual([]);
  });

  it.each([
    ['no-standard-health', 'standard-health', 'is not served'],
    ['not-serving', 'standard-health', 'does not answer SERVING'],
    ['no-slots', 'health', 'max_batch 0; it must be from 1 to 4096'],
    ['too-many-slots', 'health', 'max_batch 100000'],
    ['small-messages', 'health', 'max_message_bytes 4194304'],
    ['long-device', 'health', 'device a text of 2000 characters'],
    ['wrong-model', 'identity', 'model "another"; the gateway refuses all but "m"'],
    ['wrong-kind', 'identity', 'kind "llm"; it must be "stt"'],
    ['never-answers', 'answer', 'was not answered within'],
    ['says-one-second', 'group', 'duration_s is 1 for audio of'],
    ['accepts-anything', 'bad-item', 'was answered as if it were right'],
    ['fails-together', 'bad-item', 'beside a bad one in its group failed'],
    ['no-code', 'trailers', 'without the trailer switchyard-code'],
    ['own-code', 'trailers', 'switchyard-code is "bad", which the gateway does not know'],
    ['raw-param', 'trailers', 'switchyard-param "a file" is not percent-encoded'],
    [
      'blocks',
      'busy-health',
      'a health probe while the engine computes failed with DEADLINE_EXCEEDED',
    ],
    ['knows-everything', 'unknown-cancel', 'acknowledged: true'],
    ['denies-cancels', 'cancel', 'acknowledged is false for 1 s'],
    ['slow-cancels', 'cancel', 'the limit is 100 ms'],
    ['ends-as-failed', 'cancel', 'engine_failed'],
    ['stops-any-attempt', 'attempt', 'Cancel of another attempt at a running request'],
    ['knows-no-progress', 'attempt', 'known is false for 1 s'],
    ['few-slots', 'slots', 'requests at once: Cancel does not know'],
    ['forgets-deadlines', 'deadline', 'still in_flight 10 s after its deadline'],
    ['receives-little', 'message-size', 'RESOURCE_EXHAUSTED'],
    ['no-done', 'large-audio', 'must be done'],
    ['floods', 'large-audio', 'answered without end'],
    ['no-finals', 'stream', 'gets no final'],
    ['punishes-pings', 'pings', 'GOAWAY 11 too_many_pings'],
  ])('finds %s by the check %s alone', async (fault, name, detail) => {
    const { address } = await scripted('--fault', fault);
    const checks = CHECKS.filter(each => each.name === name || !LARGE.includes(each.name));
    const limit = fault === 'slow-cancels' && { cancelLimitMs: 100 };
    expect(failing(await check(address, { model: 'm', kind: 'stt', ...limit }, checks))).toEqual([
      {
        name,
        detail: expect.stringContaining(detail),
        guide: expect.stringContaining(`${GUIDE}#`),
      },
    ]);
  });

  it.each([
    ['ignores-sigterm', 'does not answer NOT_SERVING'],
    ['drops-calls', 'while a request ran after SIGTERM, a probe failed'],
  ])('finds %s by draining the process it may end', async (fault, detail) => {
    const { address, pid } = await scripted('--fault', fault);
    expect(failing(await check(address, { model: 'm', pid }))).toMatchObject([
      { name: 'drain', detail: expect.stringContaining(detail) },
    ]);
  });

  it('prints a table and a summary, and ends with 1 when a check fails', async () => {
    const { address } = await scripted('--fault', 'wrong-model');
    const only = ['standard-health', 'identity', 'unknown-cancel'].flatMap(name => [
      '--only',
      name,
    ]);
    const run = await runHere(['worker', 'check', address, '--model', 'm', ...only]);
    expect(run.code).toBe(1);
    expect(run.stdout).toMatch(/^✓ standard-health +SERVING$/m);
    expect(run.stdout).toMatch(/^✗ identity +its Health reports model "another"/m);
    expect(run.stdout).toMatch(/→ docs\/guides\/write-a-worker\.md#2-two-health-services$/m);
    expect(run.stdout).toMatch(/^2 passed, 1 failed, 0 not judged$/m);
    expect(run.stderr).toContain('… unknown-cancel');
  });

  it('gives one JSON document, and 3 when nothing answers', async () => {
    const { address } = await scripted();
    const run = await runHere(['worker', 'check', address, '--json', '--only', 'answer']);
    expect(JSON.parse(run.stdout)).toMatchObject({
      ok: true,
      checks: [{ name: 'answer', state: 'pass' }],
    });
    expect(run.code).toBe(0);
    const nobody = await runHere(['worker', 'check', `127.0.0.1:${await freePort()}`]);
    expect(nobody).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no worker answers at'),
    });
  });

  it('sends readers to paragraphs that exist', () => {
    const headings = [...readFileSync(GUIDE, 'utf8').matchAll(/^##+ (.+)$/gm)].map(
      ([, title = '']) => title,
    );
    const anchors = headings.map(title =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );
    expect(CHECKS.map(({ anchor }) => anchor).filter(anchor => !anchors.includes(anchor))).toEqual(
      [],
    );
    const known = new Set(CHECKS.map(({ name }) => name));
    expect(CHECKS.flatMap(({ needs = [] }) => needs).filter(name => !known.has(name))).toEqual([]);
  });
});
