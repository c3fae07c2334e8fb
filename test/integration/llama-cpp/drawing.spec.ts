import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Sampling, type TextSequence } from '@switchyard/engine-api/text-backend.port.js';
import { type LlamaBackend } from '@switchyard/engine-llama-cpp/backend.js';
import {
  GREEDY,
  llamaBackend,
  LlamaHarness,
  type Played,
  textSequence,
} from '../../support/llama-harness.js';

const DICED: Sampling = { ...GREEDY, temperature: 1, seed: 9 };

describe('drawing on llama.cpp', () => {
  let backend: LlamaBackend;
  let prompt: readonly number[];
  beforeAll(async () => {
    backend = await llamaBackend();
    prompt = await backend.encode({ type: 'text', text: 'once upon a time' });
  });
  afterAll(() => backend.close());

  const play = async (...sequences: readonly TextSequence[]): Promise<Played[]> => {
    const harness = new LlamaHarness(backend);
    harness.submit(...sequences);
    await harness.drain();
    return sequences.map(sequence => harness.played.get(sequence)!);
  };
  const tokens = async (
    sampling: Sampling,
    changes: Partial<TextSequence> = {},
  ): Promise<readonly number[]> =>
    (await play(textSequence(prompt, { sampling, ...changes })))[0]!.tokens;
  const text = async (sampling: Sampling, maxTokens = 200): Promise<string> => {
    const [played] = await play(textSequence(prompt, { sampling, maxTokens }));
    return Buffer.concat(played!.drawn.map(({ bytes }) => bytes)).toString();
  };

  it('top_k 1, a min_p of 1 and a tiny top_p are each the likeliest token', async () => {
    const likeliest = await tokens(GREEDY);
    expect(await tokens({ ...DICED, topK: 1 })).toEqual(likeliest);
    expect(await tokens({ ...DICED, minP: 1 })).toEqual(likeliest);
    expect(await tokens({ ...DICED, topP: 0.0001 })).toEqual(likeliest);
  });

  it('another seed draws other tokens, the same seed the same, also for equal prompts at the same time', async () => {
    const one = await tokens(DICED);
    expect(await tokens({ ...DICED, seed: 10 })).not.toEqual(one);
    const both = await play(
      textSequence(prompt, { sampling: DICED }),
      textSequence(prompt, { sampling: DICED }),
    );
    expect(both.map(played => played.tokens)).toEqual([one, one]);
  });

  it('a bias of -100 forbids a token, one of 100 forces it', async () => {
    const [first] = await tokens(GREEDY);
    expect(await tokens({ ...GREEDY, logitBias: new Map([[first!, -100]]) })).not.toContain(first);
    const forced = await tokens({ ...GREEDY, logitBias: new Map([[300, 100]]) });
    expect(new Set(forced)).toEqual(new Set([300]));
  });

  it.each([
    ['frequency', { frequencyPenalty: 2 }],
    ['presence', { presencePenalty: 20 }],
    ['repeat', { repeatPenalty: 1.9 }],
  ])('a %s penalty wears out a token that is forced', async (_, penalty) => {
    // Ahead of all others, but not for ever.
    const bias = new Map([[300, 14]]);
    const repeats = (drawn: readonly number[]): number =>
      drawn.filter(token => token === 300).length;
    const plain = repeats(await tokens({ ...GREEDY, logitBias: bias }));
    expect(repeats(await tokens({ ...GREEDY, logitBias: bias, ...penalty }))).toBeLessThan(plain);
  });

  it('holds an answer to a JSON schema, whatever the model would say', async () => {
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string', maxLength: 12 },
        kind: { enum: ['goods', 'passenger'] },
        cars: { type: 'array', items: { type: 'boolean' }, minItems: 2, maxItems: 3 },
        note: { type: ['null', 'boolean'] },
      },
      required: ['name', 'kind', 'cars'],
    };
    for (const seed of [1, 2, 3]) {
      const said = await text({
        ...DICED,
        seed,
        grammar: { type: 'json_schema', schema },
      });
      const value = JSON.parse(said) as { name: string; kind: string; cars: boolean[] };
      expect(Object.keys(value)).toEqual(expect.arrayContaining(['name', 'kind', 'cars']));
      expect(['goods', 'passenger']).toContain(value.kind);
      expect([2, 3]).toContain(value.cars.length);
    }
  });

  it('a grammar goes on where it was after the sequence was computed again', async () => {
    const sampling: Sampling = {
      ...DICED,
      grammar: { type: 'gbnf', text: 'root ::= "a" [b-y]{8,30} "z"' },
    };
    const alone = await tokens(sampling);
    const harness = new LlamaHarness(backend);
    const sequence = textSequence(prompt, { sampling });
    // Alone, it would be taken for the culprit.
    harness.submit(sequence, textSequence(prompt, { sampling: DICED }));
    await harness.drain(step => void (step === 3 && process.kill(backend.pid!, 'SIGKILL')));
    expect(harness.tokensOf(sequence)).toEqual(alone);
  });

  it('refuses a grammar that does not compile, and a keyword that cannot be held', async () => {
    const check = (grammar: Sampling['grammar']) =>
      backend.check({ ...GREEDY, ...(grammar && { grammar }) });
    const refused = { code: 'invalid_value', param: 'grammar' };
    await expect(check({ type: 'gbnf', text: 'root = no' })).rejects.toMatchObject(refused);
    const schema = { type: 'number', multipleOf: 7 };
    await expect(check({ type: 'json_schema', schema })).rejects.toThrow('schema.multipleOf');
  });

  it('fails a sequence alone whose grammar lets no token through, or that has a token of another model', async () => {
    const impossible: Sampling = {
      ...GREEDY,
      grammar: { type: 'gbnf', text: 'root ::= "\\U0010FFFF"' },
    };
    const solo = await tokens(GREEDY);
    const before = backend.decodeCalls;
    const [dead, strange, sound] = await play(
      textSequence(prompt, {
        sampling: { ...impossible, grammar: { type: 'gbnf', text: 'not a grammar' } },
      }),
      textSequence([1, 99_999], { tenant: 'b' }),
      textSequence(prompt, { tenant: 'c' }),
    );
    expect([dead!.end?.type, strange!.end?.type, sound!.end?.type]).toEqual([
      'failed',
      'failed',
      'finished',
    ]);
    expect(sound!.tokens).toEqual(solo);
    expect(backend.decodeCalls - before).toBe(solo.length);
  });

  it('log-probabilities of all tokens come to one, whatever the temperature', async () => {
    const read = async (sampling: Sampling) => {
      const [played] = await play(textSequence(prompt, { sampling, maxTokens: 1 }));
      return played!.drawn[0]!;
    };
    const everything = await read({ ...DICED, temperature: 0.3, logprobs: 400 });
    const sum = everything.top!.reduce((total, { logprob }) => total + Math.exp(logprob), 0);
    expect(sum).toBeCloseTo(1, 4);
    const { logprob } = await read({ ...DICED, temperature: 0.3, logprobs: 0 });
    expect(logprob).toBeCloseTo(everything.logprob!, 4);
  });
});
