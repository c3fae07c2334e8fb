import { describe, expect, it } from '@jest/globals';
import { multipartForm } from './audio-upload.js';

const bytesOf = async (source: AsyncIterable<Uint8Array>) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

describe('multipartForm', () => {
  it('has exactly the length that it says, and cannot be broken by names', async () => {
    const open = async function* (): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(Buffer.from('AUDIO'));
    };
    const form = multipartForm(
      [
        ['model', 'ü'],
        ['a"\r\nb', 'x'],
      ],
      { name: 'a".wav', bytes: 5, open },
    );
    const text = await bytesOf(form.body() as AsyncIterable<Uint8Array>);
    expect(Buffer.byteLength(text)).toBe(form.bytes);
    expect(text).toContain('name="a%22%0D%0Ab"');
    expect(text).toContain(
      'filename="a%22.wav"\r\nContent-Type: application/octet-stream\r\n\r\nAUDIO\r\n--',
    );
  });
});
