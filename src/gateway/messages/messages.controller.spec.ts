import { describe, expect, it } from '@jest/globals';
import { jsonOf, scriptedInference, served } from '../../../test/support/scripted-inference.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { ModelList } from '../../platform/config/config.module.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { type SchedulerService } from '../scheduler/scheduler.service.js';
import { TextGenerationService } from '../text/text-generation.service.js';
import { MessagesController } from './messages.controller.js';

const catalog = new ModelCatalog(
  new ModelList([
    syntheticModel({}, { id: 'm', kind: 'llm', capabilities: ['chat'] }),
    syntheticModel(
      {},
      { id: 'claude', kind: 'llm', engine: 'openai-http', capabilities: ['messages'] },
    ),
  ]),
);
const BODY = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
const answerOf = (message: object, more: object = {}) => ({
  kind: 'generation',
  answer: Buffer.from(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }], ...more })),
});

async function rig(route: 'create' | 'count', body: object) {
  const { inference, next } = scriptedInference();
  const settings = settingsFrom({});
  const generations = new TextGenerationService(inference, settings);
  const controller = new MessagesController(generations, catalog, {} as SchedulerService, settings);
  const { post } = await served((request, reply) => controller[route](jsonOf(request), reply));
  const answer = post({ ...BODY, ...body });
  return { answer, started: await next() };
}

describe('messages over HTTP', () => {
  it.each([
    [{}, ['thinking', 'text']],
    [{ thinking: { type: 'enabled' } }, ['thinking', 'text']],
    [{ thinking: { type: 'disabled' } }, ['text']],
  ])('are answered, with thoughts unless they are not wanted: %j', async (fields, types) => {
    const { answer, started } = await rig('create', fields);
    expect(started.work).toMatchObject({ model: 'm', payload: { form: 'chat', maxTokens: 5 } });
    started.answer(answerOf({ content: 'hi', reasoning: 'hm' }));
    const { headers, payload } = await answer;
    const { id, content } = JSON.parse(payload) as { id: string; content: { type: string }[] };
    expect(content.map(({ type }) => type)).toEqual(types);
    expect(id).toBe(`msg_${String(headers['request-id'])}`);
  });

  it('are passed on to a server that answers them itself', async () => {
    const { answer, started } = await rig('create', { model: 'claude' });
    expect(started.work).toMatchObject({ model: 'claude', payload: { form: 'message' } });
    started.answer({ kind: 'generation', answer: Buffer.from('{"model":"theirs","content":[]}') });
    expect((await answer).json()).toEqual({ model: 'claude', content: [] });
  });

  it('are streamed as events', async () => {
    const { answer, started } = await rig('create', { stream: true });
    started.output!.end(answerOf({ content: 'hi' }).answer);
    started.answer(answerOf({}));
    const events = [...(await answer).payload.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(events).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it.each([
    [{ usage: { prompt_tokens: 7 } }, 7],
    [{}, 0],
  ])('are counted by the model: %j', async (usage, tokens) => {
    const { model, messages } = BODY;
    const { answer, started } = await rig('count', { model, messages, max_tokens: undefined });
    expect(started.work.payload).toMatchObject({ maxTokens: 1 });
    started.answer(answerOf({ content: 'a' }, usage));
    expect((await answer).json()).toEqual({ input_tokens: tokens });
  });
});
