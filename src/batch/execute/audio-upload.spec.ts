import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../core/errors/domain-error.js';
import { audioForm, LineProblem, multipartForm } from './audio-upload.js';
import { type LineContent } from './line-target.js';

const bytesOf = async ({ body }: LineContent) =>
  Buffer.concat(await Array.fromAsync(body() as AsyncIterable<Uint8Array>)).toString();

describe('multipartForm', () => {
  it('has exactly the length that it says, and cannot be broken by names', async () => {
    const open = () => Readable.from([Buffer.from('AUDIO')]);
    const form = multipartForm(
      [
        ['model', 'ü'],
        ['a"\r\nb', 'x'],
      ],
      { name: 'a".wav', bytes: 5, open },
    );
    const text = await bytesOf(form);
    expect(Buffer.byteLength(text)).toBe(form.bytes);
    expect(text).toContain('name="a%22%0D%0Ab"');
    expect(text).toContain(
      'filename="a%22.wav"\r\nContent-Type: application/octet-stream\r\n\r\nAUDIO\r\n--',
    );
  });
});

describe('the form of an audio line', () => {
  const signal = new AbortController().signal;
  const sources = {
    files: {
      find: (tenant: string, id: string) =>
        Promise.resolve(
          id === 'file-1' && tenant === 't'
            ? { filename: 'stored.mp3', bytes: 6, blobKey: 'key' }
            : undefined,
        ),
    },
    blobs: { read: (key: string) => Readable.from([Buffer.from(key), Buffer.from('..!')]) },
    fetch: {
      bytes: (url: string, given: AbortSignal) => {
        if (given !== signal) throw new Error('another signal');
        if (url.endsWith('refused')) throw new DomainError('file_url_refused', 'not there');
        if (url.endsWith('broken')) throw new Error('bug');
        return Promise.resolve(Buffer.from('FETCHED'));
      },
    },
  } as unknown as Parameters<typeof audioForm>[1];

  const form = (body: Record<string, unknown>, fetchesFileUrl = false) =>
    audioForm({ tenant: 't', body, fetchesFileUrl, signal }, sources);
  /** Each part as name, file name and content. */
  async function partsOf(content: LineContent) {
    const text = await bytesOf(content);
    // Also at the second attempt.
    expect([await bytesOf(content), Buffer.byteLength(text)]).toEqual([text, content.bytes]);
    const boundary = content.contentType.split('boundary=')[1]!;
    const parts = text.split(`--${boundary}`).slice(1, -1);
    return parts.map(part => {
      const [head, value] = part.trim().split('\r\n\r\n');
      const [, name, file] = /name="([^"]*)"(?:; filename="([^"]*)")?/.exec(head!)!;
      return [name, ...(file === undefined ? [] : [file]), value];
    });
  }

  it('has the fields of the line as OpenAI’s clients write them', async () => {
    const parts = await partsOf(
      await form({
        ...{ audio: 'UklGRg==', model: 'w', n: 1, none: null, missing: undefined },
        ...{ granularities: ['word', 2], options: { a: 1 } },
      }),
    );
    expect(parts).toEqual([
      ['model', 'w'],
      ['n', '1'],
      ['granularities[]', 'word'],
      ['granularities[]', '2'],
      ['options', '{"a":1}'],
      ['file', 'audio.wav', 'RIFF'],
    ]);
  });

  it.each([
    ['of a data URL', { audio: 'data:audio/wav;base64,UklGRg==' }, ['file', 'audio.wav', 'RIFF']],
    ['with a name', { audio: 'UklGRg==', filename: 'a.ogg' }, ['file', 'a.ogg', 'RIFF']],
    ['with a bad name', { audio: 'UklGRg==', filename: 7 }, ['file', 'audio.wav', 'RIFF']],
    ['of a file', { file_id: 'file-1' }, ['file', 'stored.mp3', 'key..!']],
    ['of a file with a name', { file_id: 'file-1', filename: 'b' }, ['file', 'b', 'key..!']],
    ['of a URL', { file_url: 'http://h/a' }, ['file', 'audio.wav', 'FETCHED']],
  ])('has the audio %s', async (_, body, part) => {
    expect(await partsOf(await form(body))).toEqual([part]);
  });

  it('has the URL itself where the target fetches it, and the audio of others', async () => {
    expect(await partsOf(await form({ file_url: 'http://h/a' }, true))).toEqual([
      ['file_url', 'http://h/a'],
    ]);
    const parts = await partsOf(await form({ audio: 'UklGRg==' }, true));
    expect(parts).toEqual([['file', 'audio.wav', 'RIFF']]);
  });

  it.each([
    [{}, 'missing_required_parameter', 'file_id'],
    [{ audio: 'UklGRg==', file_id: 'file-1' }, 'missing_required_parameter', 'file_id'],
    [{ audio: 7 }, 'invalid_value', 'audio'],
    [{ audio: '' }, 'invalid_value', 'audio'],
    [{ file_id: 'file-2' }, 'file_not_found', 'file_id'],
    [{ file_url: 'no url' }, 'invalid_value', 'file_url'],
    [{ file_url: 'http://h/refused' }, 'file_url_refused', 'file_url'],
  ])('is refused for %j: %s', async (body, code, param) => {
    const problem = await form(body).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(LineProblem);
    expect(problem).toMatchObject({ code, param });
  });

  it('is not the line’s fault when the processor cannot fetch for its own reasons', async () => {
    await expect(form({ file_url: 'http://h/broken' })).rejects.toThrow(new Error('bug'));
  });
});
