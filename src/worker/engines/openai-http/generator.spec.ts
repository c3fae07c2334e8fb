import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EventTexts } from './event-texts.js';

function read(...parts: readonly (string | Buffer)[]) {
  const texts = new EventTexts();
  return [...parts.flatMap(part => texts.take(Buffer.from(part as string))), ...texts.end()];
}

describe('EventTexts', () => {
  it('reads one event per blank line, up to [DONE]', () => {
    expect(read('data: {"a":1}\n\ndata: [DONE]\n\ndata: {"b":2}\n\n')).toEqual(['{"a":1}']);
  });

  it('is complete with [DONE]', () => {
    const texts = new EventTexts();
    const complete = ['data: 1\n\n', 'data: [DONE]\n', '\n'].map(part => {
      texts.take(Buffer.from(part));
      return texts.complete;
    });
    expect(complete).toEqual([false, false, true]);
  });

  it.each(['\n', '\r\n', '\r'])('takes %j as the end of a line', end => {
    expect(read(`data: 1${end}${end}data: 2${end}${end}`)).toEqual(['1', '2']);
  });

  it('leaves out comments, other fields and empty events', () => {
    expect(read(': ping\n\nevent: x\nid: 7\ndata: 1\nretry: 3\n\n\n\n:\n\n')).toEqual(['1']);
  });

  it('joins the data lines of one event, and takes off one space only', () => {
    expect(read('data:{"a":\ndata:  2}\n\n')).toEqual(['{"a":\n 2}']);
  });

  it('reads a last event that has no blank line, or no line end at all', () => {
    expect(read('data: 1\n\ndata: 2\n')).toEqual(['1', '2']);
    expect(read('data: 1\n\ndata: 2')).toEqual(['1', '2']);
  });

  it('skips a byte order mark', () => {
    expect(read('\ufeffdata: 1\n\n')).toEqual(['1']);
  });

  it('gives the same events however the bytes are cut', () => {
    const bytes = Buffer.from(
      'data: {"t":"Grüße 🚂"}\r\n\r\n: x\r\ndata: 2\r\n\r\ndata: [DONE]\r\n\r\n',
    );
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), cuts => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const parts = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
        expect(read(...parts)).toEqual(['{"t":"Grüße 🚂"}', '2']);
      }),
    );
  });

  it('refuses an event without end', () => {
    const megabytes = Array.from({ length: 17 }, () => Buffer.alloc(1_048_576, 'x'));
    expect(() => read('data: ', ...megabytes)).toThrow('an event of more than 16777216 characters');
  });
});
