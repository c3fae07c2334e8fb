import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { type SpeechPiece } from '@switchyard/shared-queue/messages.codec.js';
import { SpeechRelay } from './speech-relay.js';

const head = { contentType: 'audio/wav', sampleRate: 24_000 };
const whole = Buffer.from('0123456789');
const piece = (from: number, to: number, blob = 'b1'): SpeechPiece => ({
  ...{ blob, offset: from, bytes: whole.subarray(from, to) },
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
});
