import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../core/errors/domain-error.js';
import { OutputStream } from '../inference/output-stream.js';
import { completionEvents } from './completion-events.js';

function aStream(maxBufferedBytes = 1024) {
  let outputs = 0;
  const stream = new OutputStream(completionEvents({ model: 'm' }), maxBufferedBytes);
  stream.onOutput = () => (outputs += 1);
  return { stream, outputs: () => outputs };
}

describe('GenerationStream', () => {
  it('frames each chunk as one event and ends with [DONE]', async () => {
    const { stream, outputs } = aStream();
    stream.write('{"a":1,"model":"own"}');
    stream.end('{\n"b":\r\n2}');
    expect(await text(stream)).toBe(
      'data: {"a":1,"model":"m"}\n\ndata: { "b": 2,"model":"m"}\n\ndata: [DONE]\n\n',
    );
    expect(outputs()).toBe(2);
  });

  it('has started at the first chunk, or at the end of an answer without any', async () => {
    const one = aStream().stream;
    one.write('{}');
    await one.started;
    const none = aStream().stream;
    none.resume().end();
    await none.started;
  });

  it('ends a failure with the envelope, after what came before, and without [DONE]', async () => {
    const { stream } = aStream();
    stream.write('{}');
    stream.fail(new DomainError('worker_lost', 'gone'));
    const [first, last, end] = (await text(stream)).split('\n\n');
    expect(first).toBe('data: {"model":"m"}');
    expect(last).toContain('"error":{"message":"gone"');
    expect(end).toBe('');
  });

  it('is held while more than its bound waits for a reader', async () => {
    const { stream } = aStream(16);
    const big = JSON.stringify({ text: 'x'.repeat(100_000) });
    stream.write(big);
    expect(stream.write(big)).toBe(false);
    expect(stream.writableNeedDrain).toBe(true);
    stream.resume();
    await new Promise(drained => stream.once('drain', drained));
    expect(stream.writableNeedDrain).toBe(false);
  });

  it('drops what is written after its reader left, and harms nobody', () => {
    const { stream } = aStream();
    stream.destroy();
    stream.write('{}');
    stream.fail(new DomainError('request_cancelled', 'gone'));
    expect(stream.destroyed).toBe(true);
  });
});
