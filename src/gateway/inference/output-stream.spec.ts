import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../core/errors/domain-error.js';
import { OutputStream } from './output-stream.js';

const opened = (maxBufferedBytes?: number): OutputStream =>
  new OutputStream(
    {
      format: chunk => `<${chunk.toString()}>`,
      lastFrame: failure => (failure ? `!${failure.code}` : '.'),
    },
    maxBufferedBytes,
  );

const FAILURE = new DomainError('engine_failed', 'It failed.');

describe('the output of a request', () => {
  it('is each piece in its form, then the last frame', async () => {
    const output = opened();
    const read = text(output);
    output.write('a');
    output.end('b');
    expect(await read).toBe('<a><b>.');
  });

  it('ends with the failure after what came before, the first one only', async () => {
    const output = opened();
    const read = text(output);
    output.write('a');
    output.fail(FAILURE);
    output.fail(new DomainError('worker_lost', 'Later.'));
    expect(await read).toBe('<a>!engine_failed');
  });

  it('has notices between, which are no output, until it ends', async () => {
    const output = opened();
    let pieces = 0;
    output.onOutput = () => (pieces += 1);
    const read = text(output);
    output.notice(': waiting\n');
    output.end('a');
    output.notice(': late\n');
    expect([await read, pieces]).toEqual([': waiting\n<a>.', 1]);
  });

  it('has started with its first piece or its empty end, but not with a failure', async () => {
    const started: string[] = [];
    const [some, none, failed] = [opened(), opened(), opened()];
    void some.started.then(() => started.push('some'));
    void none.started.then(() => started.push('none'));
    void failed.started.then(() => started.push('failed'));
    some.write('a');
    none.end();
    failed.fail(FAILURE);
    await Promise.all([some, none, failed].map(each => (each.end(), text(each))));
    expect(started.sort()).toEqual(['none', 'some']);
  });

  it('holds its writer back while more waits for the caller than may', async () => {
    const output = opened(4);
    expect(output.write('1234')).toBe(false);
    expect(output.writableNeedDrain).toBe(true);
    const drained = new Promise(resolve => output.once('drain', resolve));
    const read = text(output);
    await drained;
    output.end();
    expect(await read).toBe('<1234>.');
  });
});
