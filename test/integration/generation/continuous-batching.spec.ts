import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LlamaBackend } from '@switchyard/engine-llama-cpp/backend.js';
import { readLlamaOptions } from '@switchyard/engine-llama-cpp/options.js';
import { ContinuousGenerator } from '../../../src/worker/generation/continuous-generator.js';
import { modelSpec } from '../../contract/engines/engine-items.js';
import { answerOf, askItem } from '../../support/answers.js';
import { llamaModel } from '../../support/llama-model.js';

const ROWS = 8;
const CALLERS = 32;

let backend: LlamaBackend;
let engine: ContinuousGenerator;

beforeAll(async () => {
  const options = {
    modelFile: await llamaModel(),
    device: 'cpu',
    rows: ROWS,
    contextTokens: 256,
    stepTokens: 64,
  };
  const exactly = { threads: 1, exact: true };
  backend = new LlamaBackend(
    readLlamaOptions(modelSpec('llama-cpp', 'llm', { ...options, ...exactly })),
  );
  engine = new ContinuousGenerator({ backend, engine: 'llama-cpp' });
  await engine.load();
}, 120_000);
afterAll(() => engine.close());

/**
 * Callers differ in the length of what they say and want, in how it is drawn, and in
 * their tenant; some begin alike.
 */
const fieldsOf = (caller: number): object => ({
  prompt: `${'a long way to the station '.repeat(caller % 5)}caller ${caller}`,
  ...{
    max_tokens: 8 + ((caller * 7) % 40),
    temperature: caller % 3 === 0 ? 0 : 1,
    seed: caller,
    logprobs: 0,
  },
  ...(caller % 4 === 0 && { frequency_penalty: 0.5, top_p: 0.9 }),
});

async function ask(caller: number, priority: 'realtime' | 'batch' = 'batch') {
  const item = askItem(fieldsOf(caller), {
    form: 'completion',
    priority,
    tenant: `tenant-${caller % 3}`,
  });
  const { objects, done } = await answerOf(engine.generate(item));
  const { tokens } = objects[0]!.choices[0]!.logprobs as {
    readonly tokens: readonly string[];
  };
  return { tokens, finish: done.finishReasons };
}

const turns = async (count: number): Promise<void> => {
  const steps = engine.activity!.steps + count;
  while (engine.activity!.steps < steps && engine.activity!.running > 0)
    await new Promise(setImmediate);
};

/** A caller that leaves after its first token. */
async function askAndLeave(caller: number): Promise<void> {
  const fields = { ...fieldsOf(caller), stream: true, max_tokens: 100 };
  for await (const _ of engine.generate(
    askItem(fields, { form: 'completion', requestId: `gone-${caller}` }),
  ))
    return;
}

describe('continuous batching on a model of llama.cpp', () => {
  it('gives 32 callers who come, leave, cancel and displace each other the tokens that each gets alone', async () => {
    const solo = [];
    for (let caller = 0; caller < CALLERS; caller++) solo.push(await ask(caller));
    const before = engine.activity!;

    const asked: ReturnType<typeof ask>[] = [];
    const leaving: Promise<void>[] = [];
    for (let caller = 0; caller < CALLERS - ROWS; caller++) {
      asked.push(ask(caller));
      if (caller % 6 === 0) leaving.push(askAndLeave(caller));
      if (caller % 2 === 0) await turns(3);
    }
    while (engine.activity!.running < ROWS) await new Promise(setImmediate);
    for (let caller = CALLERS - ROWS; caller < CALLERS; caller++)
      asked.push(ask(caller, 'realtime'));
    expect(await Promise.all(asked)).toEqual(solo);
    await Promise.all(leaving);

    const after = engine.activity!;
    expect(after).toMatchObject({
      running: 0,
      waiting: 0,
      freeBlocks: after.blocks,
      losses: 0,
    });
    expect(after.preemptions).toBeGreaterThan(before.preemptions);
    expect(after.prefixHitTokens).toBeGreaterThan(before.prefixHitTokens);
    const steps = after.steps - before.steps;
    expect(after.decodeCalls - before.decodeCalls).toBe(steps);
    // One by one it took a step per token.
    expect(steps).toBeLessThan(before.steps / 2);
  }, 60_000);

  it('goes on with the same tokens after its process was killed under 8 streams', async () => {
    const solo = await Promise.all(Array.from({ length: ROWS }, (_, caller) => ask(caller)));
    const pid = backend.pid!;
    const asked = Array.from({ length: ROWS }, (_, caller) => ask(caller));
    while (engine.activity!.running < ROWS) await new Promise(setImmediate);
    process.kill(pid, 'SIGKILL');
    expect(await Promise.all(asked)).toEqual(solo);
    expect(backend.pid).not.toBe(pid);
    expect(engine.activity!.losses).toBeGreaterThan(0);
  }, 60_000);
});
