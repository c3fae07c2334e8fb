import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { MeasuredBytes } from './measured-bytes.js';

const ANY: ConstructorParameters<typeof MeasuredBytes>[0] = {
  maxBytes: Infinity,
  maxLines: Infinity,
};

async function measure(chunks: readonly string[], limits = ANY) {
  const measured = new MeasuredBytes(limits);
  const source = (async function* () {
    for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
  })();
  const passed: Uint8Array[] = [];
  for await (const chunk of measured.of(source)) passed.push(chunk);
  return { measured, passed: Buffer.concat(passed).toString() };
}

describe('MeasuredBytes', () => {
  it.each([
    [[], 0],
    [['a'], 1],
    [['a\n'], 1],
    [['a\nb'], 2],
    [['a', '\n', '', 'b\n'], 2],
    [['\n\n'], 2],
  ])('counts the lines of %j: %d', async (chunks, lines) => {
    expect((await measure(chunks)).measured.lines).toBe(lines);
  });

  it('passes every byte on, counted and hashed', async () => {
    const { measured, passed } = await measure(['hel', 'lo']);
    expect([passed, measured.size]).toEqual(['hello', 5]);
    expect(measured.sha256).toBe(createHash('sha256').update('hello').digest('hex'));
  });

  it('stops at the first byte or line over the limit, and not before', async () => {
    await measure(['a\nb\n'], { maxBytes: 4, maxLines: 2 });
    await expect(measure(['a\nb\n', 'c'], { maxBytes: 4, maxLines: 9 })).rejects.toMatchObject({
      code: 'file_too_large',
    });
    await expect(measure(['a\nb\n', 'c'], { maxBytes: 9, maxLines: 2 })).rejects.toMatchObject({
      code: 'too_many_lines',
    });
  });

  it('judges by limits that are known later', async () => {
    const { measured } = await measure(['12345']);
    expect(() => measured.assertWithin({ maxBytes: 4, maxLines: 1 })).toThrow(
      'larger than 4 bytes',
    );
  });
});
