import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  readOpenAiHttpOptions,
  readOpenAiHttpSpeechOptions,
} from '../../../src/worker/engines/openai-http/options.js';
import { SCHEDULERS } from '../../../src/worker/engines/openai-http/scheduler-words.js';
import { type GenerateItem } from '../../../src/worker/engines/text-generator.js';
import { embedItem, generateItem, modelSpec } from '../../contract/engines/engine-items.js';
import { UpstreamRig } from './upstream-rig.js';

let rig: UpstreamRig;
beforeEach(async () => void (rig = await UpstreamRig.start()));
afterEach(() => rig[Symbol.asyncDispose]());

const OWN = /^(x-|priority$|nvext$)/;
const own = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => OWN.test(name)));

/** What the server was told of a chat beside the chat. */
async function told(scheduler: string, changes: Partial<GenerateItem>) {
  const engine = await rig.generator({ scheduler });
  const before = rig.upstream.posts.length;
  for await (const _ of engine.generate(generateItem('one', changes)));
  const post = rig.upstream.posts[before]!;
  return { headers: own(post.headers), fields: own(post.json()) };
}

const CALL = { urgency: 'aged', tenant: 'acme', firstOutputMs: 1500.2 } as const;
/** Of a request of acme that aged and wants its first output within 1.5 s. */
const WORDS = {
  none: {},
  vllm: { fields: { priority: 1 } },
  sglang: { fields: { priority: 1 } },
  smg: { headers: { 'x-smg-priority': 'default', 'x-smg-tenant-id': 'acme' } },
  'llm-d': {
    headers: {
      'x-gateway-inference-fairness-id': 'acme',
      'x-gateway-inference-objective': 'realtime',
      'x-slo-ttft-ms': '1501',
    },
  },
  dynamo: { fields: { nvext: { agent_hints: { priority: 1 } } } },
} satisfies Record<keyof typeof SCHEDULERS, object>;

describe('the class of a request at a server with a queue of its own', () => {
  it.each(Object.entries(WORDS))('is told to %s in its own words', async (scheduler, words) => {
    expect(await told(scheduler, CALL)).toEqual({ headers: {}, fields: {}, ...words });
  });

  it.each([
    ['vllm', [0, 2]],
    ['sglang', [2, 0]],
  ])('has the direction of %s', async (scheduler, numbers) => {
    const realtime = await told(scheduler, { urgency: 'realtime' });
    const batch = await told(scheduler, { urgency: 'batch' });
    expect([realtime.fields.priority, batch.fields.priority]).toEqual(numbers);
  });

  it("takes the place of the caller's own hints to Dynamo; its other extensions stay", async () => {
    const nvext = { agent_hints: { priority: 99, strict_priority: 9 }, annotations: ['a'] };
    const body = Buffer.from(JSON.stringify({ stream: true, messages: [{ content: 'x' }], nvext }));
    const { fields } = await told('dynamo', { urgency: 'batch', body });
    expect(fields).toEqual({ nvext: { annotations: ['a'], agent_hints: { priority: 0 } } });
  });

  it('goes with embeddings and rankings, and not with a count of tokens', async () => {
    const engine = await rig.embedder({ scheduler: 'vllm' });
    await engine.embed([embedItem('a', { urgency: 'realtime' })]);
    expect(rig.upstream.posts.at(-1)!.json()).toMatchObject({ priority: 0 });
    expect(await told('vllm', { form: 'tokenize', stream: false })).toMatchObject({ fields: {} });
  });

  it('has no words for speech, and only the six names', () => {
    const stt = modelSpec('openai-http', 'stt', { baseUrl: 'http://x/v1', scheduler: 'vllm' });
    expect(() => readOpenAiHttpOptions(stt)).toThrow('options.scheduler is unknown');
    expect(() => readOpenAiHttpSpeechOptions({ ...stt, kind: 'tts', voices: { a: 'b' } })).toThrow(
      'options.scheduler is unknown',
    );
    const llm = modelSpec('openai-http', 'llm', { baseUrl: 'http://x/v1', scheduler: 'tgi' });
    expect(() => readOpenAiHttpOptions(llm)).toThrow(
      `options.scheduler is "tgi"; allowed: ${Object.keys(SCHEDULERS).join(', ')}`,
    );
  });

  it('stands in the table of the manual, word by word', () => {
    const manual = readFileSync('docs/guides/in-front-of-vllm.md', 'utf8');
    for (const [name, { headers = {}, fields = {} }] of Object.entries(
      WORDS as Record<string, { headers?: object; fields?: object }>,
    )) {
      const row = manual.split('\n').find(line => line.startsWith(`| \`${name}\``)) ?? '';
      for (const word of [...Object.keys(headers), ...Object.keys(fields)])
        expect(row).toContain(word);
      expect(row).not.toBe('');
    }
  });
});
