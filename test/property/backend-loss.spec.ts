import { afterEach, describe, expect, it } from '@jest/globals';
import { ContinuousGenerator } from '../../src/worker/generation/continuous-generator.js';
import { answerOf, askItem, says, textOf } from '../support/answers.js';
import { type SimulatedOptions, SimulatedTextBackend } from '../support/simulated-text-backend.js';
import { BackendDied } from '../support/step-simulator.js';

let engine: ContinuousGenerator;
afterEach(() => engine.close());

async function start(options: SimulatedOptions): Promise<SimulatedTextBackend> {
  const backend = new SimulatedTextBackend(options);
  engine = new ContinuousGenerator({ backend, engine: 'simulated' });
  await engine.load();
  return backend;
}

const say = (text: string, fields: object = {}) =>
  answerOf(engine.generate(askItem(says(text, fields))));
const promptOf = ({ request }: { readonly request: { readonly prompt: readonly number[] } }) =>
  Buffer.from(request.prompt).toString('latin1');

describe('a backend that dies', () => {
  it('is opened again, and streams go on where they were', async () => {
    let runs = 0;
    const beforeRun = () => {
      if (++runs === 4) throw new BackendDied('gone');
    };
    const backend = await start({ beforeRun });
    const answers = await Promise.all(
      ['alpha', 'beta', 'gamma'].map(text => say(text, { stream: true })),
    );
    expect(answers.map(({ objects }) => textOf(objects))).toEqual(['alpha', 'beta', 'gamma']);
    expect(backend.reopened).toBe(1);
    expect(engine.activity).toMatchObject({ losses: 1, running: 0, freeBlocks: 64 });
  });

  it('between two requests is opened again for the next one', async () => {
    const backend = await start({});
    expect(textOf((await say('one')).objects)).toBe('one');
    backend.die();
    const answers = await Promise.all([say('two'), say('three')]);
    expect(answers.map(({ objects }) => textOf(objects))).toEqual(['two', 'three']);
    expect(backend.reopened).toBe(1);
  });

  it('is not what any failure is taken for: only a loss opens it again', async () => {
    const backend = await start({});
    const { encode } = backend;
    backend.encode = () => Promise.reject(new TypeError('required is not iterable'));
    await expect(say('one')).rejects.toThrow('required is not iterable');
    backend.encode = encode;
    expect(textOf((await say('two')).objects)).toBe('two');
    expect(backend.reopened).toBe(0);
  });

  it('by the fault of one request fails that one alone', async () => {
    const beforeRun: SimulatedOptions['beforeRun'] = items => {
      if (items.some(item => promptOf(item).startsWith('poison'))) throw new BackendDied('killed');
    };
    await start({ beforeRun });
    const [poison, ...others] = await Promise.allSettled([say('poison'), say('one'), say('two')]);
    expect(poison.status).toBe('rejected');
    expect(others.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  });

  it('and cannot be opened fails those who are here, and serves those who come when it can', async () => {
    let dead = true;
    let isOpen = false;
    const failing: { tell?: () => void } = {};
    const beforeRun = () => {
      if (dead) throw new BackendDied('gone');
    };
    const onReopen = async () => {
      if (isOpen) return;
      await new Promise<void>(resolve => (failing.tell = resolve));
      throw new Error('no memory');
    };
    await start({ beforeRun, onReopen });
    const lost = Promise.allSettled([say('one'), say('two')]);
    while (!failing.tell) await new Promise(setImmediate);
    isOpen = true;
    dead = false;
    failing.tell();
    expect((await lost).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(textOf((await say('three')).objects)).toBe('three');
  });
});

describe('a step that fails', () => {
  it('by the fault of one request fails that one alone, and the others lose no token', async () => {
    const beforeRun: SimulatedOptions['beforeRun'] = items => {
      if (items.some(item => promptOf(item).startsWith('poison') && item.position > 0))
        throw new Error('spoilt');
    };
    await start({ beforeRun });
    const [poison, ...others] = await Promise.allSettled([say('poison'), say('one'), say('two')]);
    expect(poison).toMatchObject({ status: 'rejected', reason: { message: 'spoilt' } });
    expect(
      others.map(answer => answer.status === 'fulfilled' && textOf(answer.value.objects)),
    ).toEqual(['one', 'two']);
  });
});
