import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Embedding,
  type EmbedItem,
  type TextEmbedder,
} from '@switchyard/engine-api/text-embedder.js';
import { embedItem } from './engine-items.js';

export interface EmbedderSubject {
  readonly engine: TextEmbedder;
  /**
   * By how much a number may differ beside others; absent: not at all. Kernels round
   * differently with the size of a batch.
   */
  readonly rounding?: number;
  /** What makes an item fail. */
  readonly failing: string;
}

/** The rules of `TextEmbedder`, run against every engine that embeds text. */
export function describeTextEmbedder(
  name: string,
  create: () => EmbedderSubject | Promise<EmbedderSubject>,
): void {
  describe(`${name} keeps the TextEmbedder contract`, () => {
    let engine: TextEmbedder;
    let failing: string;
    let rounding: number;
    const embedded = async (item: EmbedItem): Promise<Embedding> => {
      const [outcome] = await engine.embed([item]);
      if (!outcome?.ok) throw new Error('failed', { cause: outcome });
      return outcome.value;
    };

    const expectSame = (one: readonly number[], other: readonly number[]) => {
      expect(one).toHaveLength(other.length);
      const apart = one.map((number, at) => Math.abs(number - other[at]!));
      expect(Math.max(...apart)).toBeLessThanOrEqual(rounding);
    };

    beforeAll(async () => {
      ({ engine, failing, rounding = 0 } = await create());
      await engine.load();
    });
    afterAll(() => engine.close());

    it('tells after load what it is', () => {
      expect(engine.info.revision).not.toBe('');
      expect(engine.info.capabilities).toContain('embeddings');
    });

    it('answers an empty group with an empty list', async () => {
      expect(await engine.embed([])).toEqual([]);
    });

    it('gives one vector per input, in order', async () => {
      const { vectors, dimensions, usage } = await embedded(embedItem(['one', 'two', 'one']));
      expect(vectors).toHaveLength(3 * dimensions);
      const [first, second, third] = [0, 1, 2].map(at => [
        ...vectors.slice(at * dimensions, (at + 1) * dimensions),
      ]);
      expectSame(third!, first!);
      expect(second).not.toEqual(first);
      expect(usage?.promptTokens).toBeGreaterThan(0);
    });

    it('gives the same vector alone or in a group', async () => {
      const alone = await embedded(embedItem('two'));
      const group = await engine.embed([embedItem('one'), embedItem('two')]);
      if (!group[1]?.ok) throw new Error('failed', { cause: group[1] });
      const { vectors, ...rest } = group[1].value;
      expect({ ...rest, vectors: alone.vectors }).toEqual(alone);
      expectSame([...vectors], [...alone.vectors]);
    });

    it('gives numbers whichever encoding the caller asked for', async () => {
      const plain = await embedded(embedItem('one'));
      const body = Buffer.from('{"input":"one","encoding_format":"base64"}');
      expect((await embedded(embedItem('one', { body }))).vectors).toEqual(plain.vectors);
    });

    it('keeps a failure, and an abort, to its own item', async () => {
      const outcomes = await engine.embed([
        embedItem(failing),
        embedItem('one'),
        embedItem('two', { signal: AbortSignal.abort() }),
      ]);
      expect(outcomes.map(({ ok }) => ok)).toEqual([false, true, false]);
      expect(outcomes[2]).toMatchObject({ error: { code: 'request_cancelled' } });
    });

    it('goes on with the same vectors after a group that everybody left', async () => {
      const before = await embedded(embedItem('one'));
      const caller = new AbortController();
      const { signal } = caller;
      const texts = Array.from({ length: 30 }, (_, at) => `${at} of many texts`);
      const left = engine.embed([embedItem(texts, { signal }), embedItem('two', { signal })]);
      setImmediate(() => caller.abort());
      for (const outcome of await left)
        if (!outcome.ok) expect(outcome).toMatchObject({ error: { code: 'request_cancelled' } });
      expectSame([...(await embedded(embedItem('one'))).vectors], [...before.vectors]);
    });

    it('closes once, however often it is asked', async () => {
      await Promise.all([engine.close(), engine.close()]);
    });
  });
}
