import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TextBackend } from '@switchyard/engine-api/text-backend.port.js';
import { DICED, GREEDY, sequence, StepDriver } from './step-driver.js';

export interface TextBackendSubject {
  readonly backend: TextBackend;
  /** The process behind it dies, as by a crash. */
  kill(): void;
}

const TEXTS = [
  'the train is on the right track',
  'a switch',
  'signal box number nine',
  'on the way',
];

/** The rules of `TextBackend`, run against every backend. */
export function describeTextBackend(name: string, create: () => Promise<TextBackendSubject>): void {
  describe(`${name} keeps the TextBackend contract`, () => {
    let subject: TextBackendSubject;
    let backend: TextBackend;
    let prompts: (readonly number[])[];

    beforeAll(async () => {
      subject = await create();
      ({ backend } = subject);
      await backend.load();
      prompts = await Promise.all(TEXTS.map(text => backend.encode({ type: 'text', text })));
    }, 120_000);
    afterAll(() => backend.close());

    const alone = async (prompt: readonly number[], count: number, sampling = GREEDY) => {
      const one = sequence(prompt, sampling, 'alone');
      const driver = new StepDriver(backend);
      const [output] = await driver.generate(count, one);
      await driver.end(one);
      return output!;
    };

    it('tells what it is: rows that a step has tokens for, memory for a context', () => {
      const { rows, stepTokens, contextTokens, model, revision } = backend.info;
      const { blocks, blockTokens } = backend.memory;
      expect(rows).toBeGreaterThanOrEqual(4);
      expect(stepTokens).toBeGreaterThanOrEqual(rows);
      expect(blocks * blockTokens).toBeGreaterThanOrEqual(contextTokens);
      expect([model, revision]).not.toContain('');
    });

    it('encodes the same text to the same tokens, and a chat with its template', async () => {
      const [text = ''] = TEXTS;
      expect(await backend.encode({ type: 'text', text })).toEqual(prompts[0]);
      const messages = [{ role: 'user', content: text }];
      const chat = await backend.encode({ type: 'chat', messages });
      expect(chat.length).toBeGreaterThan(0);
      expect(await backend.encode({ type: 'tokens', tokens: prompts[0]! })).toEqual(prompts[0]);
    });

    it('refuses tokens and biases that are not of its vocabulary, and grammars that are none', async () => {
      const stranger = 2_000_000_000;
      const refusal = { code: 'invalid_value' };
      const tokens = { type: 'tokens', tokens: [stranger] } as const;
      await expect(backend.encode(tokens)).rejects.toMatchObject(refusal);
      const biased = { ...GREEDY, logitBias: new Map([[stranger, 1]]) };
      await expect(backend.check(biased)).rejects.toMatchObject(refusal);
      const grammar = { type: 'gbnf', text: 'no grammar' } as const;
      await expect(backend.check({ ...GREEDY, grammar })).rejects.toMatchObject(refusal);
      await backend.check(GREEDY);
    });

    it('advances all items of a plan in one native run, whether they decode or are prefilled', async () => {
      const driver = new StepDriver(backend);
      const [first, second, third] = prompts.map(prompt => sequence(prompt, DICED));
      await driver.step(first!);
      const before = backend.decodeCalls;
      const results = await driver.step(first!, second!, { sequence: third!, tokens: 3 });
      expect(backend.decodeCalls - before).toBe(1);
      expect(results.get(third!)).toEqual({ type: 'computed' });
      expect(driver.drawn.get(third!)).toBeUndefined();
      expect(driver.drawn.get(second!)?.bytes).toBeInstanceOf(Buffer);
      await driver.end(first!, second!, third!);
    });

    it.each([
      ['greedy', GREEDY],
      ['drawn by a seed', DICED],
    ])(
      'gives each the tokens that it gets alone (%s), whoever else is there',
      async (_, sampling) => {
        const solos = [];
        for (const prompt of prompts) solos.push(await alone(prompt, 12, sampling));
        const driver = new StepDriver(backend);
        const together = prompts.map(prompt => sequence(prompt, sampling));
        expect(await driver.generate(12, ...together)).toEqual(solos);
        await driver.end(...together);
      },
    );

    it('goes on in a step that is sent while another one runs, with the tokens which that one draws', async () => {
      const solos = [];
      for (const prompt of prompts) solos.push(await alone(prompt, 4, DICED));
      const driver = new StepDriver(backend);
      const together = prompts.map(prompt => sequence(prompt, DICED));
      await driver.generate(2, ...together);
      const before = backend.decodeCalls;
      expect(await driver.stepTwice(...together)).toEqual(solos.map(solo => solo.slice(2)));
      expect(backend.decodeCalls - before).toBe(2);
      await driver.end(...together);
    });

    it('computes a prompt in chunks as it does at once, and again after it was preempted', async () => {
      const [prompt] = prompts;
      const solo = await alone(prompt!, 8, DICED);
      const driver = new StepDriver(backend);
      const one = sequence(prompt!, DICED, 'chunked');
      for (let left = prompt!.length; left > 3; left -= 3)
        await driver.step({ sequence: one, tokens: 3 });
      await driver.generate(4, one);
      driver.preempt(one);
      expect(await driver.generate(8, one)).toEqual([solo]);
      await driver.end(one);
    });

    it('brings log-probabilities when they are wanted: the likeliest first', async () => {
      const driver = new StepDriver(backend);
      const one = sequence(prompts[0]!, { ...GREEDY, logprobs: 3 });
      const none = sequence(prompts[1]!);
      await driver.step(one, none);
      const { logprob, top } = driver.drawn.get(one)!;
      expect(logprob).toBeLessThanOrEqual(0);
      expect(top).toHaveLength(3);
      const falling = top!.map(other => other.logprob);
      expect(falling).toEqual([...falling].sort((a, b) => b - a));
      expect(falling[0]).toBeCloseTo(logprob!, 4);
      expect(driver.drawn.get(none)).not.toHaveProperty('logprob');
      await driver.end(one, none);
    });

    it('goes on with the same tokens after a step that nobody wanted was stopped', async () => {
      const solo = await alone(prompts[0]!, 6, DICED);
      const driver = new StepDriver(backend);
      const abandoned = sequence(prompts[1]!, DICED, 'abandoned');
      const step = driver.step(abandoned).then(
        () => undefined,
        () => undefined,
      );
      backend.stop?.();
      await step;
      await driver.end(abandoned);
      expect(await alone(prompts[0]!, 6, DICED)).toEqual(solo);
    });

    it('rejects once its process is dead, and goes on with the same tokens when it is opened again', async () => {
      const solo = await alone(prompts[0]!, 8, DICED);
      const driver = new StepDriver(backend);
      const one = sequence(prompts[0]!, DICED);
      await driver.generate(3, one);
      subject.kill();
      await expect(driver.step(one)).rejects.toThrow();
      await backend.reopen();
      driver.lose();
      expect(await driver.generate(8, one)).toEqual([solo]);
      await driver.end(one);
    }, 120_000);

    it('closes once, however often it is asked', async () => {
      await Promise.all([backend.close(), backend.close()]);
    });
  });
}
