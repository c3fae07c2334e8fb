import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventData } from './generator.js';

async function read(...parts: readonly (string | Buffer)[]): Promise<string[]> {
  const events: string[] = [];
  for await (const data of eventData(Readable.from(parts.map(part => Buffer.from(part as string))))) events.push(data);
  return events;
}

describe('eventData', () => {
  it('reads one event per blank line', async () => {
    expect(await read('data: {"a":1}\n\ndata: [DONE]\n\n')).toEqual(['{"a":1}', '[DONE]']);
  });

  it.each(['\n', '\r\n', '\r'])('takes %j as the end of a line', async end => {
    expect(await read(`data: 1${end}${end}data: 2${end}${end}`)).toEqual(['1', '2']);
  });

  it('leaves out comments, other fields and empty events', async () => {
    expect(await read(': ping\n\nevent: x\nid: 7\ndata: 1\nretry: 3\n\n\n\n:\n\n')).toEqual(['1']);
  });

  it('joins the data lines of one event, and takes off one space only', async () => {
    expect(await read('data:{"a":\ndata:  2}\n\n')).toEqual(['{"a":\n 2}']);
  });

  it('reads a last event that has no blank line, or no line end at all', async () => {
    expect(await read('data: 1\n\ndata: 2\n')).toEqual(['1', '2']);
    expect(await read('data: 1\n\ndata: 2')).toEqual(['1', '2']);
  });

  it('skips a byte order mark', async () => {
    expect(await read('\ufeffdata: 1\n\n')).toEqual(['1']);
  });

  it('gives the same events however the bytes are cut', async () => {
    const bytes = Buffer.from('data: {"t":"Grüße 🚂"}\r\n\r\n: x\r\ndata: 2\r\n\r\ndata: [DONE]\r\n\r\n');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length)), async cuts => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const parts = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
        expect(await read(...parts)).toEqual(['{"t":"Grüße 🚂"}', '2', '[DONE]']);
      }),
    );
  });

  it('refuses an event without end', async () => {
    const megabytes = Array.from({ length: 17 }, () => Buffer.alloc(1_048_576, 'x'));
    await expect(read('data: ', ...megabytes)).rejects.toMatchObject({ code: 'engine_failed' });
  });
});
