import { describe, expect, it } from '@jest/globals';
import {
  type GenerateCallFields,
  type GenerationMessage,
} from '@switchyard/worker-protocol/generation.codec.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import {
  type GenerateItem,
  type GenerationEvent,
  type TextGenerator,
} from '../engines/text-generator.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { WorkerState } from '../lifecycle/worker-state.js';
import { GenerationService, sharedTime } from './generation.service.js';

const DONE: GenerationEvent = { type: 'done', finishReasons: ['stop'] };
const chunk = (at: number): GenerationEvent => ({ type: 'chunk', json: `{"at":${at}}` });
const never = new AbortController().signal;

function call(changes: Partial<GenerateCallFields> = {}): GenerateCallFields {
  return {
    requestId: 'r',
    priority: RequestPriority.BATCH,
    group: { id: 'g', size: 1 },
    form: 'chat',
    tenant: 't',
    tenantWeight: 1,
    body: Buffer.from('{}'),
    stream: true,
    maxTokens: 0,
    n: 1,
    ...changes,
  };
}

/** What the engine is asked for, by `generate`. */
function service(generate: TextGenerator['generate'], maxConcurrent = 1): GenerationService {
  const info = { maxConcurrent } as TextGenerator['info'];
  return new GenerationService(
    { kind: 'llm', info, generate } as TextGenerator,
    new ProcessClock(),
    new InFlightCalls(new WorkerState()),
  );
}

const turn = () => new Promise(setImmediate);

describe('the GenerationService of a worker', () => {
  it('asks the engine for the next chunk when the last one has been taken, and not before', async () => {
    let asked = 0;
    // eslint-disable-next-line @typescript-eslint/require-await -- the contract is an asynchronous iteration
    const generation = service(async function* () {
      for (; asked < 3; asked++) yield chunk(asked);
      yield DONE;
    });
    const taken: GenerationMessage[] = [];
    let take: () => void = () => undefined;
    const running = generation.generate(call(), never, message => {
      taken.push(message);
      return new Promise(resolve => (take = resolve));
    });
    for (let at = 0; at < 3; at++) {
      await turn();
      expect([asked, taken.length]).toEqual([at, at + 1]);
      take();
    }
    await turn();
    expect(taken.at(-1)).toMatchObject({
      $case: 'done',
      value: { firstTokenMs: expect.any(Number) },
    });
    take();
    await running;
  });

  it('runs no more than the engine takes; one that is cancelled in the line is never begun', async () => {
    const begun: string[] = [];
    const gates = new Map<string, () => void>();
    const generation = service(async function* ({ requestId }: GenerateItem) {
      begun.push(requestId);
      await new Promise<void>(resolve => gates.set(requestId, resolve));
      yield DONE;
    });
    const abort = new AbortController();
    const sink = () => Promise.resolve();
    const first = generation.generate(call({ requestId: 'a' }), never, sink);
    const gone = generation.generate(call({ requestId: 'b' }), abort.signal, sink);
    const last = generation.generate(call({ requestId: 'c' }), never, sink);
    await turn();
    expect(begun).toEqual(['a']);
    abort.abort(new DomainError('request_cancelled', 'left'));
    await expect(gone).rejects.toMatchObject({ code: 'request_cancelled' });
    gates.get('a')?.();
    await first;
    await turn();
    expect(begun).toEqual(['a', 'c']);
    gates.get('c')?.();
    await last;
  });

  it('releases the slot after a failure, and reports the cause of an abort, not the error of the engine', async () => {
    const abort = new AbortController();
    // eslint-disable-next-line @typescript-eslint/require-await -- an engine that only fails
    const generation = service(async function* () {
      throw new Error('native trouble');
    });
    const sink = () => Promise.resolve();
    await expect(generation.generate(call(), never, sink)).rejects.toThrow('native trouble');
    const running = generation.generate(call(), abort.signal, sink);
    abort.abort(new DomainError('shutting_down', 'soon gone'));
    await expect(running).rejects.toMatchObject({ code: 'shutting_down' });
  });

  it('takes an end without `done` for a failure', async () => {
    // eslint-disable-next-line @typescript-eslint/require-await -- as above
    const generation = service(async function* () {
      yield chunk(0);
    });
    await expect(generation.generate(call(), never, () => Promise.resolve())).rejects.toMatchObject(
      { code: 'engine_failed' },
    );
  });

  it('tells no first token of a whole answer, unless the engine does', async () => {
    const events: GenerationEvent[] = [chunk(0), DONE];
    // eslint-disable-next-line @typescript-eslint/require-await -- as above
    const generation = service(async function* () {
      yield* events;
    });
    const told: GenerationMessage[] = [];
    const sink = (message: GenerationMessage) => Promise.resolve(void told.push(message));
    await generation.generate(call({ stream: false }), never, sink);
    events[1] = { type: 'done', finishReasons: ['stop'], firstTokenMs: 7 };
    await generation.generate(call({ stream: false }), never, sink);
    expect(told[1]).toMatchObject({ value: { firstTokenMs: undefined } });
    expect(told[3]).toMatchObject({ value: { firstTokenMs: 7 } });
  });
});

describe('SharedTime', () => {
  it('gives one that runs alone all of the time', () => {
    const time = sharedTime();
    const mark = time.begin(100);
    expect(time.since(mark, 130)).toBe(30);
  });

  it('divides each moment by those that run in it, and adds up to the time of the device', () => {
    const time = sharedTime();
    const a = time.begin(0);
    const b = time.begin(10);
    expect(time.since(a, 30)).toBe(20);
    time.end(30);
    expect(time.since(b, 40)).toBe(20);
    time.end(40);
    const c = time.begin(1000);
    expect(time.since(c, 1005)).toBe(5);
  });
});
