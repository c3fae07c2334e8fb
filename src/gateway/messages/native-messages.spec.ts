import { describe, expect, it } from '@jest/globals';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { nativeEvents, nativeMessage } from './native-messages.js';

const model = syntheticModel({}, { id: 'm', kind: 'llm', engine: 'openai-http' });
const FIELDS = { model: 'alias', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };

describe('a message that another server answers', () => {
  it('goes there as it came, with what decides about its place here', () => {
    const bytes = Buffer.from('as it came');
    const fields = { ...FIELDS, system: 'short', stream: true, unknown: 1, priority: 3 };
    const work = nativeMessage(model, { fields, bytes }, { strict: false });
    expect(work).toEqual({
      stream: true,
      ignored: ['priority'],
      generation: {
        model,
        body: bytes,
        beginning: 'system:short\nuser:hi',
        task: { form: 'message', maxTokens: 5, n: 1 },
      },
    });
    const named = { ...FIELDS, priority: 'batch' };
    expect(nativeMessage(model, { fields: named, bytes }, { strict: true }).ignored).toEqual([]);
    expect(() => nativeMessage(model, { fields, bytes }, { strict: true })).toThrow('priority');
  });

  it('is answered with its events, in which the model has its name here', async () => {
    const events = nativeEvents('m', 'r');
    const sent = (event: object) => String(events.format(Buffer.from(JSON.stringify(event))));
    const start = { type: 'message_start', message: { id: 'x', model: 'theirs' } };
    expect(sent(start)).toBe(
      'event: message_start\ndata: {"type":"message_start","message":{"id":"x","model":"m"}}\n\n',
    );
    const stop = { type: 'message_stop', message: { model: 'theirs' } };
    expect(sent(stop)).toBe(`event: message_stop\ndata: ${JSON.stringify(stop)}\n\n`);
    expect(events.lastFrame(undefined)).toBeUndefined();
    const failure = new DomainError('engine_failed', 'cannot');
    expect(await events.lastFrame(failure)).toMatch(/^event: error\n.*cannot/);
    const whole = await events.whole(Buffer.from('{"model":"theirs","id":"x"}'));
    expect(JSON.parse((whole as Buffer).toString())).toEqual({ model: 'm', id: 'x' });
  });
});
