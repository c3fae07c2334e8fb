import { describe, expect, it } from '@jest/globals';
import { ReplayBuffer } from './replay-buffer.js';

/** 100 bytes are a second. */
const BPS = 100;
const sketch = (buffer: ReplayBuffer): string =>
  buffer
    .entries()
    .map(entry =>
      entry.kind === 'commit' ? `|${entry.start}` : `${entry.start}+${entry.pcm.length}`,
    )
    .join(' ');

function filled(maxSeconds = 60): ReplayBuffer {
  const buffer = new ReplayBuffer(BPS, maxSeconds);
  for (let start = 0; start < 400; start += 100) buffer.audio(Buffer.alloc(100), start);
  return buffer;
}

describe('what a new worker gets', () => {
  it('is everything until a segment completes', () => {
    expect(sketch(filled())).toBe('0+100 100+100 200+100 300+100');
    expect(filled().seconds).toBe(4);
  });

  it('begins where the completed segment ended, in the middle of a frame, on a whole sample', () => {
    const buffer = filled();
    buffer.completed(1.505);
    expect(sketch(buffer)).toBe('150+50 200+100 300+100');
    expect(buffer.seconds).toBe(2.5);
  });

  it('forgets the commit that was answered and keeps the one that was not', () => {
    const buffer = new ReplayBuffer(BPS, 60);
    buffer.audio(Buffer.alloc(100), 0);
    buffer.commit(100);
    buffer.audio(Buffer.alloc(100), 100);
    buffer.commit(200);
    buffer.completed(0.998);
    expect(sketch(buffer)).toBe('98+2 100+100 |200');
  });

  it('holds 2 seconds at most and keeps the newest', () => {
    expect(sketch(filled(2))).toBe('200+100 300+100');
  });
});
