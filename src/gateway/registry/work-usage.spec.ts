import { expect, it, jest } from '@jest/globals';
import { request, synthesize, transcribe } from '../../../test/support/pool-harness.js';
import { ServiceTimes } from '../../core/latency/service-times.js';
import { type WorkerReply, type WorkerTask } from '../../worker-client/worker-task.js';
import { observeCost, usageOf, workSizeOf } from './work-usage.js';

const heard = transcribe().payload;
const spoken = synthesize('hello').task;
const generation = (maxTokens: number, n: number) =>
  ({ kind: 'generate', body: Buffer.alloc(8), maxTokens, n }) as WorkerTask;

it.each<[unknown, object]>([
  [{ ...heard, durationS: 7 }, { input: 7 }],
  [{ ...heard, durationS: undefined }, {}],
  [{ ...heard, durationS: 7, audio: { url: 'http://a' } }, {}],
  [spoken, { input: 5 }],
  [generation(10, 2), { input: 2, mostOutput: 20 }],
  [generation(0, 2), { input: 2, mostOutput: Infinity }],
  [generation(10, 0), { input: 2, mostOutput: 10 }],
  [{ kind: 'embed', body: Buffer.alloc(12) }, { input: 3 }],
])('a task has the size %#', (task, size) => {
  expect(workSizeOf(task as WorkerTask)).toEqual(size);
});

const usage = { promptTokens: 3, completionTokens: 4 };
it.each<[object, WorkerTask, object | undefined]>([
  [{ kind: 'transcript', transcript: { durationS: 9 } }, heard, { audioSeconds: 9 }],
  [{ kind: 'speech', durationS: 2 }, spoken, { audioSeconds: 2, characters: 5 }],
  [{ kind: 'speech', durationS: 2 }, heard, { audioSeconds: 2 }],
  [{ kind: 'generation', usage }, heard, { tokens: 7, inputTokens: 3, outputTokens: 4 }],
  [{ kind: 'embeddings' }, heard, undefined],
])('an answer has the usage %#', (reply, task, expected) => {
  expect(usageOf(reply as WorkerReply, task)).toEqual(expected);
});

it.each<[object, WorkerTask, object]>([
  [{ kind: 'generation', usage }, generation(1, 1), { input: 3, output: 4 }],
  [{ kind: 'embeddings', usage }, generation(1, 1), { input: 3, output: undefined }],
  [{ kind: 'speech', durationS: 2 }, spoken, { input: 5, output: undefined }],
])('the cost of a request is learned by its size %#', (reply, payload, size) => {
  const times = new ServiceTimes();
  const observe = jest.spyOn(times.of('m').costs, 'observe');
  const execution = { deviceMs: 30, batchSize: 2 };
  const asked = request(payload);
  expect(observeCost(times, asked, { ...reply, execution } as WorkerReply)).toBe(15);
  expect(observe.mock.calls).toEqual([[size, 15]]);
  const none = { ...reply, execution: { deviceMs: 0, batchSize: 1 } } as WorkerReply;
  expect([observeCost(times, asked, none), observe.mock.calls.length]).toEqual([undefined, 1]);
});
