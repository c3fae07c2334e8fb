import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { settingsFrom } from '../../platform/config/settings.js';
import { type InferenceService } from '../inference/inference.service.js';
import { TextGenerationService } from './text-generation.service.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('a caller of a stream is told every five seconds why it waits, until its first chunk', async () => {
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
