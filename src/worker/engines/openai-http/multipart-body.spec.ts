import { describe, expect, it } from '@jest/globals';
import { multipartBody } from './recognizer.js';

const read = ({ contentType, parts }: ReturnType<typeof multipartBody>) =>
  new Response(Buffer.concat(parts), { headers: { 'content-type': contentType } }).formData();

describe('multipartBody', () => {
  it('is read back by a parser: fields in order, repeated names, the bytes of the file', async () => {
    const file = Buffer.from([0, 13, 10, 45, 45, 255]);
    const fields = [
      ['model', 'whisper'],
      ['a[]', 'one\r\ntwo'],
      ['a[]', 'zwei'],
    ] as const;
    const form = await read(multipartBody({ file, filename: 'клип.wav', fields }));
    expect([form.get('model'), ...form.getAll('a[]')]).toEqual(['whisper', 'one\r\ntwo', 'zwei']);
    const upload = form.get('file') as File;
    expect([upload.name, ...new Uint8Array(await upload.arrayBuffer())]).toEqual(['клип.wav', ...file]);
  });

  it('refers to the file instead of copying it', () => {
    const file = new Uint8Array(10);
    expect(multipartBody({ file, filename: 'a', fields: [] }).parts).toContain(file);
  });

  it('lets no file name end its line or its quotes', () => {
    const { parts } = multipartBody({ file: Buffer.of(), filename: 'a"\r\nX-Evil: 1\r\n\r\n', fields: [] });
    const text = Buffer.concat(parts).toString();
    expect(text).toContain('filename="a%22%0D%0AX-Evil: 1%0D%0A%0D%0A"\r\n');
    expect(text).not.toContain('\nX-Evil');
  });

  it('names a file without a name, as servers tell a file from a field by that', async () => {
    const form = await read(multipartBody({ file: Buffer.from('x'), filename: '', fields: [] }));
    expect(form.get('file')).toBeInstanceOf(File);
  });
});
