import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { encodeSpeechPiece, type SpeechPiece } from '@switchyard/shared-queue/messages.codec.js';
import { type SharedQueueLink } from './shared-queue-link.js';
import { SpeechFeed, SpeechRelay } from './speech-relay.js';

const head = { contentType: 'audio/wav', sampleRate: 24_000 };
const whole = Buffer.from('0123456789');
const piece = (from: number, to: number, blob = 'b1'): SpeechPiece => ({
  blob,
  offset: from,
  bytes: whole.subarray(from, to),
  ...head,
});
const value = (blob = 'b1') => ({
  kind: 'speech' as const,
  blob,
  durationS: 1,
  ...head,
});

function relayed(highWaterMark = 1000) {
  const audio = new PassThrough({ highWaterMark });
  const headers: unknown[] = [];
  const reads: number[] = [];
  const relay = new SpeechRelay({ audio, header: header => void headers.push(header) });
  // eslint-disable-next-line @typescript-eslint/require-await -- blobs are read as streams
  const read = async function* (_blob: string, from: number): AsyncGenerator<Uint8Array> {
    reads.push(from);
    yield whole.subarray(from);
  };
  const text = async (): Promise<string> =>
    Buffer.concat((await audio.toArray()) as Buffer[]).toString();
  return { relay, audio, headers, reads, read, text };
}

describe('SpeechRelay', () => {
  it('sends pieces as they come, and only the rest from the blob', async () => {
    const { relay, audio, headers, reads, read, text } = relayed();
    relay.open();
    relay.piece(piece(0, 3));
    relay.piece(piece(3, 6));
    expect([audio.readableLength, relay.begun]).toEqual([6, true]);
    await relay.complete(value(), read);
    expect([await text(), reads, headers]).toEqual(['0123456789', [6], [head]]);
  });

  it('holds pieces until it is known that a worker has the request', () => {
    const { relay, audio } = relayed();
    expect(relay.piece(piece(0, 3))).toBe(true);
    expect(audio.readableLength).toBe(0);
    relay.open();
    expect(audio.readableLength).toBe(3);
  });

  it('takes what follows a missing piece from the blob', async () => {
    const { relay, reads, read, text } = relayed();
    relay.open();
    relay.piece(piece(0, 3));
    relay.piece(piece(6, 9));
    relay.piece(piece(9, 10));
    await relay.complete(value(), read);
    expect([await text(), reads]).toEqual(['0123456789', [3]]);
  });

  it('takes all of it from the blob when the beginning is missing', async () => {
    const { relay, reads, read, text } = relayed();
    relay.open();
    relay.piece(piece(3, 6));
    await relay.complete(value(), read);
    expect([await text(), reads]).toEqual(['0123456789', [0]]);
  });

  it('leaves the rest to the blob while the listener is slow: nothing piles up here', async () => {
    const { relay, audio, read, text } = relayed(2);
    relay.open();
    relay.piece(piece(0, 3));
    relay.piece(piece(3, 6));
    expect(audio.readableLength).toBeLessThanOrEqual(3);
    const [heard] = await Promise.all([text(), relay.complete(value(), read)]);
    expect(heard).toBe('0123456789');
  });

  it('never joins two attempts: worker_lost once some of the first was sent', async () => {
    const { relay, audio, read } = relayed();
    relay.open();
    relay.piece(piece(0, 3));
    relay.piece(piece(0, 3, 'b2'));
    expect(audio.readableLength).toBe(3);
    await expect(relay.complete(value('b2'), read)).rejects.toMatchObject({
      code: 'worker_lost',
    });
  });

  it('sends all of it from the blob when no piece came, and ends', async () => {
    const { relay, headers, reads, read, text } = relayed();
    expect(relay.begun).toBe(false);
    const pieces = [relay.piece(piece(0, 3, 'b2')), relay.piece(piece(3, 6, 'b2'))];
    await relay.complete(value('b2'), read);
    expect([pieces, relay.begun]).toEqual([[true, false], true]);
    expect([await text(), reads, headers]).toEqual(['0123456789', [6], [head]]);
    const none = relayed();
    await none.relay.complete(value(), none.read);
    expect([await none.text(), none.reads, none.headers]).toEqual(['0123456789', [0], [head]]);
  });

  it('says of no piece after it is open that it is the first', () => {
    const { relay, headers } = relayed();
    relay.open();
    expect([relay.piece(piece(0, 1)), relay.piece(piece(1, 2))]).toEqual([false, false]);
    expect([relay.begun, headers]).toEqual([true, [head]]);
  });

  it('sends no piece that comes while the rest is read', async () => {
    const { relay, reads, read, text } = relayed();
    relay.open();
    relay.piece(piece(0, 3));
    const completed = relay.complete(value(), async function* (blob, from) {
      relay.piece(piece(3, 6));
      yield* read(blob, from);
    });
    await completed;
    expect([await text(), reads]).toEqual(['0123456789', [3]]);
  });

  it('sends nothing to a listener that has left, and leaves the sink open when it fails', async () => {
    const gone = relayed();
    gone.audio.destroy();
    gone.relay.open();
    gone.relay.piece(piece(0, 3));
    expect([gone.relay.begun, gone.headers]).toEqual([false, []]);
    await expect(gone.relay.complete(value(), gone.read)).rejects.toMatchObject({
      code: 'request_cancelled',
    });
    const { relay, audio } = relayed();
    const failing = relay.complete(value(), () => {
      throw new Error('missing');
    });
    await expect(failing).rejects.toThrow('missing');
    expect(audio.writableEnded).toBe(false);
  });
});

describe('SpeechFeed', () => {
  const keys = new QueueKeys('test');
  const [one, other] = ['one', 'other'].map(jobId => ({ model: 'm', jobId }));
  const channelOf = (jobId: string): string => keys.speech(keys.queue('m'), jobId);

  it('tells who listens of the pieces of its job, over one connection, until it is forgotten', async () => {
    const unsubscribe = jest.fn(() => Promise.reject(new Error('away')));
    const subscribe = jest.fn(() => Promise.resolve());
    const client = Object.assign(new EventEmitter(), { subscribe, unsubscribe });
    const listener = jest.fn(() => client);
    const look = (read: () => unknown) => Promise.resolve(read());
    const feed = new SpeechFeed({ keys, listener, look } as unknown as SharedQueueLink);
    feed.forget(one!);
    const heard = jest.fn();
    await feed.listen(one!, heard);
    await feed.listen(other!, jest.fn());
    const emit = (jobId: string, message: Buffer): unknown =>
      client.emit('messageBuffer', Buffer.from(channelOf(jobId)), message);
    emit('one', encodeSpeechPiece(piece(0, 3)));
    emit('other', encodeSpeechPiece(piece(3, 6)));
    emit('one', Buffer.from('no piece'));
    expect(heard.mock.calls).toEqual([[piece(0, 3)]]);
    for (let nth = 0; nth < 2; nth++) feed.forget(one!);
    emit('one', encodeSpeechPiece(piece(3, 6)));
    expect([heard.mock.calls.length, listener.mock.calls.length]).toEqual([1, 1]);
    expect([subscribe.mock.calls, unsubscribe.mock.calls]).toEqual([
      [[channelOf('one')], [channelOf('other')]],
      [[channelOf('one')]],
    ]);
  });
});
