import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FormDigest, isSame } from './request-fingerprint.js';

/** The fingerprint of a form that comes in these pieces. */
async function fingerprint(boundary: string, pieces: readonly Buffer[]): Promise<string> {
  const digest = new FormDigest('head', {
    'content-type': `multipart/form-data; boundary=${boundary}`,
  });
  const passed = await buffer(digest.passing(Readable.from(pieces)));
  expect(passed.equals(Buffer.concat(pieces))).toBe(true);
  return digest.fingerprint;
}

const form = (boundary: string, content: string): Buffer =>
  Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n${content}\r\n--${boundary}--\r\n`,
  );

const cut = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const at = [...new Set(places.map(place => place % bytes.length))].sort((a, b) => a - b);
  return [0, ...at]
    .map((from, index) => bytes.subarray(from, at[index] ?? bytes.length))
    .filter(({ length }) => length > 0);
};

describe('the fingerprint of a form', () => {
  it('is that of its content, whatever its boundary is and however it is cut on its way', async () => {
    const boundaries = fc.stringMatching(/^-{2,6}[a-z0-9]{4,10}$/);
    await fc.assert(
      fc.asyncProperty(
        boundaries,
        boundaries,
        fc.array(fc.nat(), { maxLength: 8 }),
        async (one, other, places) => {
          const first = await fingerprint(one, [form(one, 'the same content')]);
          expect(await fingerprint(other, cut(form(other, 'the same content'), places))).toBe(
            first,
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is the same wherever one cut is, within a delimiter as well', async () => {
    const bytes = form('boundary', 'the same content');
    const whole = await fingerprint('boundary', [bytes]);
    for (let at = 1; at < bytes.length; at += 1)
      expect([at, await fingerprint('boundary', cut(bytes, [at]))]).toEqual([at, whole]);
  });

  it('is another one for another content of the same length', async () => {
    expect(await fingerprint('b', [form('b', 'one')])).not.toBe(
      await fingerprint('b', [form('b', 'two')]),
    );
  });

  it('differs for content that holds what separates the parts, such as the one letter of a boundary', async () => {
    const plain = await fingerprint('b', [form('b', 'one')]);
    for (const content of ['bone', 'o--bne', 'one\r\n-b'])
      expect(await fingerprint('b', [form('b', content)])).not.toBe(plain);
  });

  it('takes no more parts than a form may have for parts: beyond them bytes count as they are', async () => {
    const of = (boundary: string, parts: number): Promise<string> =>
      fingerprint(boundary, [Buffer.from(`--${boundary}\r\n\r\nx\r\n`.repeat(parts))]);
    expect(await of('one', 110)).toBe(await of('another', 110));
    expect(await of('one', 1000)).not.toBe(await of('another', 1000));
  });

  it('is compared as far as it is known: another head never, without the bytes of either not yet', () => {
    expect(isSame('a', 'b')).toBe(false);
    expect(isSame('a', 'a')).toBe(true);
    expect(isSame('a.1', 'a')).toBeUndefined();
    expect([isSame('a.1', 'a.1'), isSame('a.1', 'a.2')]).toEqual([true, false]);
  });
});
