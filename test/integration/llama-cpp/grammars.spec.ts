import { isUtf8 } from 'node:buffer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Grammar, type ToolForm } from '@switchyard/engine-api/text-backend.port.js';
import { type LlamaBackend } from '@switchyard/engine-llama-cpp/backend.js';
import {
  GREEDY,
  llamaBackend,
  soloTokens,
  textSequence,
  LlamaHarness,
} from '../../support/llama-harness.js';

const SEEDED = { ...GREEDY, temperature: 1, seed: 5 };
const gbnf = (text: string): Grammar => ({ type: 'gbnf', text });
const schema = (given: object): Grammar => ({ type: 'json_schema', schema: given });
const string = { type: 'string' };

let backend: LlamaBackend;
beforeAll(async () => {
  backend = await llamaBackend();
});
afterAll(() => backend.close());

const check = (grammar: Grammar): Promise<void> => backend.check({ ...GREEDY, grammar });

/**
 * Whole answers under a grammar; those that come to no end within the context
 * are left out.
 */
async function answers(grammar: Grammar, count: number): Promise<Buffer[]> {
  const prompt = await backend.encode({ type: 'text', text: 'x' });
  const harness = new LlamaHarness(backend);
  const sequences = Array.from({ length: count }, (_, seed) =>
    textSequence(prompt, { maxTokens: 200, sampling: { ...SEEDED, seed, grammar } }),
  );
  harness.submit(...sequences);
  await harness.drain();
  const played = sequences.map(sequence => harness.played.get(sequence)!);
  return played
    .filter(({ end }) => end?.type === 'finished' && end.reason === 'stop')
    .map(({ drawn }) => Buffer.concat(drawn.map(({ bytes }) => bytes)));
}

const parsed = (answer: Buffer): unknown => JSON.parse(answer.toString('utf8'));
const keysOf = (answer: Buffer): string => Object.keys(parsed(answer) as object).join();

import { answerReader } from '../../../src/worker/generation/answer-reader.js';

describe('a grammar on llama.cpp', () => {
  it.each<[string, Grammar]>([
    [
      'literals, classes, groups',
      gbnf(
        'root ::= "a\\"\\x41\\u00e4" [a-z] [^"\\]] (\n "b" # why\n | [-+] .\n) rest\nrest ::=\n "c" |',
      ),
    ],
    [
      'all repetitions',
      gbnf('root ::= "a"* "b"+ "c"? "d"{3} "e"{2,} ("g" "h"?){ 2 , 3 } "i"{0} "j"{2}{3}'),
    ],
    ['loops over what may be empty', gbnf('root ::= (space "a"?)* "."\nspace ::= [ \\t]*')],
    ['rules that contain themselves', gbnf('root ::= "(" root ")" | [a-z] root | "x"')],
    [
      'many ways on',
      gbnf(`root ::= ${Array.from({ length: 900 }, (_, at) => `"${at}"`).join(' | ')}`),
    ],
    ['any object', { type: 'json_object' }],
    ['long texts', schema({ ...string, minLength: 3000, maxLength: 10_000 })],
    [
      'long lists',
      schema({ type: 'array', items: { ...string, maxLength: 1000 }, maxItems: 10_000 }),
    ],
    ['lists of 2000', schema({ type: 'array', items: string, minItems: 1, maxItems: 2000 })],
    [
      '900 optional properties',
      schema({
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`p${at}`, string])),
      }),
    ],
  ])('with %s compiles: what is let through here is read there', async (_, grammar) => {
    await expect(check(grammar)).resolves.toBeUndefined();
  });

  it('holds lengths in characters, and lets no byte through that begins none', async () => {
    const all = await answers(schema({ ...string, minLength: 2, maxLength: 6 }), 100);
    expect(all.flatMap(answer => [...answer]).filter(byte => byte >= 0xf5)).toEqual([]);
    // Characters in more bytes than they need are the same to llama.cpp; only random
    // weights draw them.
    const sound = all
      .filter(answer => isUtf8(answer))
      .map(answer => [...(parsed(answer) as string)].length);
    expect(sound.length).toBeGreaterThan(80);
    expect(Math.min(...sound)).toBeGreaterThanOrEqual(2);
    expect(Math.max(...sound)).toBeLessThanOrEqual(6);
  });

  it('holds formats: dates that there are, times with their zone, identifiers', async () => {
    const properties = {
      ...{ day: { ...string, format: 'date' }, at: { ...string, format: 'date-time' } },
      ...{ time: { ...string, format: 'time' }, id: { ...string, format: 'uuid' } },
    };
    const given = { type: 'object', properties, required: ['day', 'at', 'time', 'id'] };
    const all = (await answers(schema(given), 40)).map(
      answer => parsed(answer) as Record<'day' | 'at' | 'time' | 'id', string>,
    );
    expect(all.length).toBeGreaterThan(20);
    for (const { day, at, time, id } of all) {
      expect(new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10)).toBe(day);
      expect(Date.parse(at)).not.toBeNaN();
      expect(Date.parse(`2026-01-01T${time}`)).not.toBeNaN();
      expect(id).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    }
  });

  it('may leave out what is optional, and nothing else', async () => {
    const properties = {
      a: { type: 'null' },
      b: { type: 'boolean' },
      c: { type: 'null' },
    };
    const objects = await answers(schema({ type: 'object', properties, required: ['b'] }), 60);
    const keys = new Set(objects.map(keysOf));
    expect(keys).toEqual(new Set(['b', 'a,b', 'b,c', 'a,b,c']));
    const optional = await answers(schema({ type: 'object', properties }), 100);
    const all = new Set(optional.map(keysOf));
    expect(all).toEqual(new Set(['', 'a', 'b', 'c', 'a,b', 'a,c', 'b,c', 'a,b,c']));
  });

  it.each([
    ['deep', { enum: [JSON.parse('['.repeat(5000) + ']'.repeat(5000))] }, 'at most 1500 deep'],
    ['wide', { enum: Array.from({ length: 60_000 }, (_, at) => at) }, 'more than 50000 values'],
  ])(
    'of a schema with %s values is refused before it is sent anywhere',
    async (_, given, message) => {
      await expect(check(schema(given))).rejects.toMatchObject({
        ...{ code: 'invalid_value', param: 'response_format.json_schema.schema' },
        message: expect.stringContaining(message),
      });
    },
  );

  it('is written and refused in the child: the loop that answers health checks goes on', async () => {
    const given = schema({ ...string, pattern: '^(a|b)*a(a|b){20}$' });
    const code = 'invalid_value';
    const param = 'response_format.json_schema.schema.pattern';
    process.kill(backend.pid!, 'SIGSTOP');
    const refused = expect(check(given)).rejects.toMatchObject({ code, param });
    // Nothing here works on it: only the child can refuse it.
    process.kill(backend.pid!, 'SIGCONT');
    await refused;
  });

  it('holds numbers, patterns and calls of tools', async () => {
    const properties = {
      count: { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
      share: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
      code: { ...string, pattern: '^[A-Z]{2}-\\d{3}$' },
    };
    const given = { type: 'object', properties, required: ['count', 'share', 'code'] };
    const objects = (await answers(schema(given), 20)).map(
      answer => parsed(answer) as { count: number; share: number; code: string },
    );
    expect(objects.length).toBeGreaterThan(10);
    for (const { count, share, code } of objects) {
      expect(Number.isSafeInteger(count)).toBe(true);
      expect([share > 0, share <= 1]).toEqual([true, true]);
      expect(code).toMatch(/^[A-Z]{2}-\d{3}$/);
    }
    const tools = [
      {
        name: 'go',
        parameters: {
          properties: { to: { enum: ['left', 'right'] } },
          required: ['to'],
        },
        path: 'tools[0]',
      },
    ];
    const calls = await answers({ type: 'tool_calls', tools, several: true }, 10);
    expect(calls.length).toBeGreaterThan(5);
    for (const call of calls)
      expect(call.toString()).toMatch(
        /^(<tool_call>\s*\{\s*"name"\s*:\s*"go"\s*,\s*"arguments"\s*:\s*\{\s*"to"[^<]*<\/tool_call>\n?)+$/,
      );
  });

  it.each<[ToolForm, string]>([
    ['qwen-xml', '<tool_call>\n<function=go>\n<parameter=to>\n'],
    ['llama3', '{'],
    ['mistral', '[TOOL_CALLS][{'],
    ['mistral-args', '[TOOL_CALLS]go[ARGS]{'],
    ['gpt-oss', '<|channel|>commentary to=functions.go <|constrain|>json<|message|>{'],
  ])('holds calls in the form %s, and its reader finds them', async (form, begin) => {
    const properties = {
      to: { type: 'string', enum: ['left', 'right'] },
      steps: { $ref: '#/$defs/steps' },
    };
    const $defs = { steps: { type: 'integer', minimum: 1, maximum: 9 } };
    const required = ['to', 'steps'];
    const parameters = { type: 'object', properties, required, $defs };
    const tools = [{ name: 'go', parameters, path: 'tools[0]' }];
    const given = { type: 'tool_calls', tools, several: true, form } as const;
    const told = await answers(given, 10);
    expect(told.length).toBeGreaterThan(3);
    for (const answer of told.map(String)) {
      expect(answer.startsWith(begin)).toBe(true);
      const reader = answerReader({ toolForm: form, tools: { texts: ['go/to'] } });
      const parts = [reader.take(answer), reader.flush()];
      expect(
        parts
          .map(({ content }) => content)
          .join('')
          .trim(),
      ).toBe('');
      const calls = parts.flatMap(part => part.calls);
      expect(calls.length).toBeGreaterThan(0);
      for (const { name, arguments: json } of calls) {
        expect(name).toBe('go');
        const { to, steps } = parsed(Buffer.from(json)) as { to: string; steps: number };
        expect(to).toMatch(/^(left|right)$/);
        expect([1, 2, 3, 4, 5, 6, 7, 8, 9]).toContain(steps);
      }
    }
  });

  it('that does not come to an end is refused, and who is beside goes on in another process', async () => {
    const prompt = await backend.encode({ type: 'text', text: 'beside' });
    const sequence = textSequence(prompt, { sampling: SEEDED });
    const [solo] = await soloTokens(backend, [sequence]);
    const hung = backend.pid!;
    process.kill(hung, 'SIGSTOP');
    const refusal = {
      code: 'invalid_value',
      param: 'grammar',
      message: expect.stringContaining('within 5000 ms'),
    };
    const [endless, next] = await Promise.allSettled([
      check(gbnf('root ::= "a"')),
      check(gbnf('root ::= "b"')),
    ]);
    expect(endless).toEqual({
      status: 'rejected',
      reason: expect.objectContaining(refusal),
    });
    expect(next.status).toBe('fulfilled');
    expect(backend.pid).not.toBe(hung);
    const harness = new LlamaHarness(backend);
    harness.submit(sequence);
    await harness.drain();
    expect(harness.tokensOf(sequence)).toEqual(solo);
  });
});
