import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type GenerateItem,
  type GenerationEvent,
  type TextGenerator,
} from '../../../src/worker/engines/text-generator.js';
import { generateItem } from './engine-items.js';

export interface GeneratorSubject {
  readonly engine: TextGenerator;
  /** In every answer to TEXT; absent: it says the words again. */
  readonly says?: RegExp;
  /** What makes it say some words and then nothing more for a long time. */
  readonly endless: string;
  /** What makes it fail. */
  readonly failing: string;
}

interface Choice {
  readonly delta?: { readonly content?: string };
  readonly message?: { readonly content?: string };
  readonly text?: string;
}

interface Chunk {
  readonly choices: readonly Choice[];
  readonly usage?: unknown;
}

type Done = Extract<GenerationEvent, { type: 'done' }>;

const TEXT = 'the train is on the right track';

export async function generated(
  engine: TextGenerator,
  item: GenerateItem,
): Promise<{ chunks: Chunk[]; done: Done }> {
  const events: GenerationEvent[] = [];
  for await (const event of engine.generate(item)) events.push(event);
  const done = events.pop();
  if (done?.type !== 'done') throw new Error('the last event is no done');
  const chunks = events.map(event => {
    if (event.type !== 'chunk') throw new Error('a done before the end');
    return JSON.parse(event.json) as Chunk;
  });
  return { chunks, done };
}

const textOf = (chunks: readonly Chunk[]) =>
  chunks
    .flatMap(({ choices }) => choices)
    .map(({ delta, message, text }) => delta?.content ?? message?.content ?? text ?? '')
    .join('');

/** The rules of `TextGenerator`, run against every engine that generates text. */
export function describeTextGenerator(
  name: string,
  create: () => GeneratorSubject | Promise<GeneratorSubject>,
): void {
  describe(`${name} keeps the TextGenerator contract`, () => {
    let subject: GeneratorSubject;
    let engine: TextGenerator;

    beforeAll(async () => {
      subject = await create();
      engine = subject.engine;
      await engine.load();
    });
    afterAll(() => engine.close());

    it('tells after load what it is, and takes no groups', () => {
      expect(engine.info.revision).not.toBe('');
      expect(engine.info.capabilities).toContain('chat');
      expect(engine.info.maxBatch).toBe(1);
    });

    it.each(['chat', 'completion'] as const)(
      'streams a %s: chunks in OpenAI form, then one done',
      async form => {
        const { chunks, done } = await generated(engine, generateItem(TEXT, { form }));
        expect(chunks.length).toBeGreaterThan(2);
        expect(textOf(chunks)).toMatch(subject.says ?? /the train/);
        expect(done.finishReasons).toHaveLength(1);
      },
    );

    it.each(['chat', 'completion'] as const)(
      'answers a %s as a whole in one chunk, with usage',
      async form => {
        const { chunks, done } = await generated(
          engine,
          generateItem(TEXT, { form, stream: false }),
        );
        expect(chunks).toHaveLength(1);
        expect(textOf(chunks)).toMatch(subject.says ?? /the train/);
        expect(chunks[0]).toHaveProperty('usage.total_tokens');
        expect(done.usage?.promptTokens).toBeGreaterThan(0);
      },
    );

    it('says the same to the same, alone or beside others', async () => {
      const one = async () => textOf((await generated(engine, generateItem(TEXT))).chunks);
      const alone = await one();
      expect(new Set(await Promise.all([one(), one(), one()]))).toEqual(new Set([alone]));
    });

    it('fails by throwing, and its neighbours are answered', async () => {
      const [bad, good] = await Promise.allSettled([
        generated(engine, generateItem(subject.failing)),
        generated(engine, generateItem(TEXT)),
      ]);
      expect(bad.status).toBe('rejected');
      expect(good.status).toBe('fulfilled');
    });

    it.each([true, false])(
      'starts nothing for an item that is aborted before (stream %s)',
      async stream => {
        const item = generateItem(TEXT, { stream, signal: AbortSignal.abort() });
        await expect(generated(engine, item)).rejects.toThrow();
      },
    );

    it('yields no more once an item is aborted', async () => {
      const abort = new AbortController();
      const events: GenerationEvent[] = [];
      const run = async () => {
        for await (const event of engine.generate(
          generateItem(subject.endless, { signal: abort.signal }),
        )) {
          events.push(event);
          abort.abort();
        }
      };
      await expect(run()).rejects.toThrow();
      expect(events.filter(({ type }) => type === 'done')).toEqual([]);
      expect(events).toHaveLength(1);
    });

    it('ends its work when the consumer returns early', async () => {
      for await (const event of engine.generate(generateItem(subject.endless))) {
        expect(event.type).toBe('chunk');
        break;
      }
    });

    it('closes once, however often it is asked', async () => {
      await Promise.all([engine.close(), engine.close()]);
    });
  });
}
