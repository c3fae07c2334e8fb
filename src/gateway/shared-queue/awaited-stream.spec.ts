import { describe, expect, it, jest } from '@jest/globals';
import { type StreamEvent } from '@switchyard/worker-protocol/call.codec.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type StreamHandle } from '../../worker-client/stream-handle.js';
import { AwaitedStream } from './awaited-stream.js';

const EVENT = { type: 'done' } as unknown as StreamEvent;
const FULL = new DomainError('queue_full', 'none is free');

/** A stream that waits for its slot, and the one that it gets. */
function awaited() {
  const slot = Promise.withResolvers<StreamHandle>();
  const begun = {
    finished: Promise.resolve(),
    sendFrame: jest.fn(),
    commit: jest.fn(),
    close: jest.fn(),
    cancel: jest.fn(),
    receiveEvents: () => [EVENT],
  };
  begun.cancel.mockImplementation(() => Promise.resolve());
  const stream = new AwaitedStream(slot.promise);
  return { stream, begun, begin: () => slot.resolve(begun as unknown as StreamHandle), ...slot };
}

describe('a live stream that waits for its slot', () => {
  it('does what it was told once it has one', async () => {
    const { stream, begun, begin } = awaited();
    const data = Buffer.from('a');
    const told = [stream.sendFrame(data, true), stream.commit(), stream.close()];
    expect(begun.sendFrame).not.toHaveBeenCalled();
    begin();
    await Promise.all([...told, stream.finished]);
    expect([begun.sendFrame, begun.commit, begun.close].map(({ mock }) => mock.calls)).toEqual([
      [[data, true]],
      [[]],
      [[]],
    ]);
    expect(await Array.fromAsync(stream.receiveEvents())).toEqual([EVENT]);
    await stream.cancel();
    await stream.cancel();
    expect(begun.cancel).toHaveBeenCalledTimes(1);
  });

  it('that is cancelled meanwhile is cancelled as soon as it has one, without events', async () => {
    const { stream, begun, begin } = awaited();
    await stream.cancel();
    begin();
    expect(await Array.fromAsync(stream.receiveEvents())).toEqual([]);
    expect(begun.cancel).toHaveBeenCalledTimes(1);
  });

  it('is not cancelled unless it was told so', async () => {
    const { stream, begun, begin } = awaited();
    begin();
    await stream.finished;
    expect(begun.cancel).not.toHaveBeenCalled();
  });

  it('ends with why it got none, which only its events say', async () => {
    const { stream, reject } = awaited();
    reject(FULL);
    await Promise.all([stream.finished, stream.commit(), stream.close(), stream.cancel()]);
    await stream.sendFrame(Buffer.alloc(0));
    expect(await Array.fromAsync(stream.receiveEvents())).toEqual([]);
    const { stream: other, reject: refuse } = awaited();
    refuse(FULL);
    await expect(Array.fromAsync(other.receiveEvents())).rejects.toBe(FULL);
  });
});
