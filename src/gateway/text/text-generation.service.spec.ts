import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { scriptedInference, served } from '../../../test/support/scripted-inference.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { httpCaller, type InferenceService } from '../inference/inference.service.js';
import {
  dialectAnswer,
  type TextDialect,
  TextGenerationService,
} from './text-generation.service.js';

describe('a caller of a stream', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is told every five seconds why it waits, until its first chunk', async () => {
    const first = Promise.withResolvers<object>();
    const inference = { start: () => ({ firstOutput: () => first.promise }) };
    const service = new TextGenerationService(
      inference as unknown as InferenceService,
      settingsFrom({}),
    );
    let stream: NodeJS.ReadableStream | undefined;
    const reply = {
      headers: () => reply,
      type: () => reply,
      send: (events: NodeJS.ReadableStream) => (stream = events),
    };
    const caller = { reply, tenant: 't' };
    const generation = { model: { id: 'm' }, task: {}, body: Buffer.from('{}') };
    const said = service.say(
      { caller, generation, ignored: [] } as never,
      { contentType: 'text/event-stream' } as never,
      true,
      () => Promise.resolve(': wait\n\n'),
    );
    await jest.advanceTimersByTimeAsync(4999);
    expect(stream).toBeUndefined();
    await jest.advanceTimersByTimeAsync(5001);
    const heard = () => String(stream!.read() ?? '');
    expect(heard()).toBe(': wait\n\n'.repeat(2));
    first.resolve({ phases: {} });
    await said;
    await jest.advanceTimersByTimeAsync(10_000);
    expect(heard()).toBe('');
  });
});

const failure = new DomainError('engine_failed', 'cannot');
const dialect = (): TextDialect<{ readonly say: string }> => {
  let all = '';
  return {
    contentType: 'text/x-lines',
    begin: () => [{ say: 'begin' }],
    take: piece => {
      if (piece.type !== 'text') return [];
      all += piece.text;
      return [{ say: piece.text }];
    },
    end: () => Promise.resolve([{ say: 'end' }]),
    fail: ({ code }) => [{ say: code }],
    frame: ({ say }) => `${say}\n`,
    whole: () => ({ all }),
  };
};
const chunk = (text: string) =>
  Buffer.from(JSON.stringify({ choices: [{ delta: { content: text } }] }));

describe('an answer in another dialect', () => {
  it('begins once, with its first piece, and ends', async () => {
    const form = dialectAnswer(dialect());
    expect([form.contentType, form.format(chunk('a')), form.format(chunk('b'))]).toEqual([
      'text/x-lines',
      'begin\na\n',
      'b\n',
    ]);
    expect(await form.lastFrame(undefined)).toBe('end\n');
    expect(await dialectAnswer(dialect()).lastFrame(undefined)).toBe('begin\nend\n');
    expect(await dialectAnswer(dialect()).whole(chunk('a'))).toEqual({ all: 'a' });
  });

  it('ends with its failure, which may be a piece that cannot be read', async () => {
    const form = dialectAnswer(dialect());
    expect(form.format(Buffer.from('?'))).toBe('begin\n');
    expect(form.format(chunk('late'))).toBe('');
    expect(await form.lastFrame(undefined)).toBe('engine_failed\n');
    const lost = new DomainError('worker_lost', 'gone');
    expect(await form.lastFrame(lost)).toBe('worker_lost\n');
  });
});

describe('a generation over HTTP', () => {
  const model = syntheticModel({}, { id: 'm', kind: 'llm' });
  const task = { form: 'chat', maxTokens: 5, n: 1 } as const;
  const generation = { model, task, beginning: 'user:hi', body: Buffer.from('{}') };
  const rig = async (isStream: boolean) => {
    const { inference, next } = scriptedInference();
    const service = new TextGenerationService(inference, settingsFrom({}));
    const server = await served((_, reply) => {
      const caller = httpCaller(reply, { tier: 'auto', model });
      return service.say(
        { caller, generation, ignored: ['seed'] },
        dialectAnswer(dialect()),
        isStream,
      );
    });
    return { answer: server.post({}), next, service };
  };

  it('is answered whole', async () => {
    const { answer, next } = await rig(false);
    const { work, output, idleMs, answer: settle } = await next();
    expect(work).toMatchObject({
      model: 'm',
      bytes: 2,
      audioDurationS: 0,
      timeoutMs: 600_000,
      payload: { kind: 'generate', form: 'chat', maxTokens: 5 },
    });
    expect([output, idleMs, work.payload.sink]).toEqual([undefined, undefined, undefined]);
    settle({
      kind: 'generation',
      answer: chunk('a'),
      usage: { promptTokens: 3, completionTokens: 1 },
    });
    const { payload, headers } = await answer;
    expect(JSON.parse(payload)).toEqual({ all: 'a' });
    expect(headers).toMatchObject({
      'x-switchyard-ignored': 'seed',
      'x-switchyard-prompt-tokens': '3',
      'content-type': 'application/json; charset=utf-8',
    });
  });

  it('is streamed from its first piece on', async () => {
    const { answer, next } = await rig(true);
    const { work, output, idleMs, answer: settle } = await next();
    expect(work.payload.sink).toEqual({ chunks: output });
    expect(idleMs).toBe(settingsFrom({}).inference.generationIdleMs);
    output!.write(chunk('a'));
    await new Promise(setImmediate);
    output!.end(chunk('b'));
    settle({ kind: 'generation', answer: Buffer.alloc(0) });
    const { payload, headers } = await answer;
    expect(payload).toBe('begin\na\nb\nend\n');
    expect(headers).toMatchObject({
      'content-type': 'text/x-lines',
      'x-switchyard-queue-ms': '1.00',
      'cache-control': 'no-cache',
    });
  });

  it('fails as any request before its first piece, and in the stream after it', async () => {
    const early = await rig(true);
    (await early.next()).fail(failure);
    expect((await early.answer).json()).toMatchObject({ code: 'engine_failed' });
    const late = await rig(true);
    const { output, fail } = await late.next();
    output!.write(chunk('a'));
    await new Promise(setImmediate);
    fail(failure);
    expect((await late.answer).payload).toBe('begin\na\nengine_failed\n');
  });

  it('has texts to embed as one request', async () => {
    const { inference, next } = scriptedInference();
    const service = new TextGenerationService(inference, settingsFrom({}));
    const body = Buffer.from('{"input":[]}');
    const embedded = service.embed({ id: 'r', tenant: 't' } as never, 'e', { body, inputs: 3 });
    const { work, answer } = await next();
    expect(work).toEqual({
      model: 'e',
      bytes: 12,
      audioDurationS: 0,
      payload: { kind: 'embed', body, inputs: 3 },
    });
    answer({ kind: 'embeddings', vectors: Buffer.alloc(4), dimensions: 1 });
    expect((await embedded).reply).toMatchObject({ dimensions: 1 });
  });
});
