import { describe, expect, it } from '@jest/globals';
import { type JournalAudio } from '../journal/session-state.js';
import { AudioLog } from './audio-log.js';

const KEPT = 6000;

/** All that a new worker gets, such as `0:ab 2|`. */
function sketch(log: AudioLog, kept = KEPT): string {
  log.rewind();
  const parts: string[] = [];
  for (let entry = log.next(kept); entry; entry = log.next(kept))
    parts.push(
      entry.kind === 'audio'
        ? `${entry.start}:${entry.pcm.toString()}`
        : entry.kind === 'commit'
          ? `${entry.start}|`
          : entry.kind,
    );
  return parts.join(' ');
}

/** Sends all that waits. */
function sent(log: AudioLog, kept = KEPT): AudioLog {
  while (log.next(kept));
  return log;
}

function filled(): AudioLog {
  const log = new AudioLog();
  for (const pcm of ['abcd', 'efgh', 'ijkl', 'mnop']) log.append(Buffer.from(pcm));
  return log;
}

describe('what a new worker gets', () => {
  it('is everything until a segment completes', () => {
    const log = filled();
    expect(log.waitingBytes).toBe(16);
    expect(sent(log).waitingBytes).toBe(0);
    expect(sketch(log)).toBe('0:abcd 4:efgh 8:ijkl 12:mnop');
  });

  it('begins where the completed segment ended, in the middle of a frame, on a whole sample', () => {
    const log = sent(filled());
    log.completed(7);
    log.rewind();
    expect(log.waitingBytes).toBe(10);
    expect(sketch(log)).toBe('6:gh 8:ijkl 12:mnop');
  });

  it('is the same of the smallest frames, which are held in larger pieces', () => {
    const log = new AudioLog();
    const frames = Array.from({ length: 50_000 }, (_, at) => String(10 + (at % 90)));
    for (const [at, frame] of frames.entries()) {
      log.append(Buffer.from(frame));
      if (at === 20_000) log.commit();
      while (log.next(1_000_000));
    }
    expect(log.audio.length).toBeLessThan(5000);
    expect(Buffer.concat(log.audio.map(({ pcm }) => pcm)).toString()).toBe(frames.join(''));
    expect(log.state).toEqual({ position: 100_000, keepFrom: 0, commits: [40_002] });
    log.completed(60_001);
    expect(log.audio[0]).toMatchObject({ start: 60_000 });
  });

  it('forgets the commit that was answered and keeps the one that was not', () => {
    const log = new AudioLog();
    log.append(Buffer.from('abcd'));
    log.commit();
    log.append(Buffer.from('efgh'));
    log.commit();
    sent(log).completed(2, 4);
    expect(sketch(log)).toBe('2:cd 4:efgh 8|');
  });

  it('holds 2 seconds at most and keeps the newest', () => {
    const log = sent(filled(), 8);
    expect(sketch(log)).toBe('8:ijkl 12:mnop');
  });

  it.each([
    [16, '0:abcd 4:efgh 8:ijkl 12:mnop'],
    [15, '4:efgh 8:ijkl 12:mnop'],
    [12, '4:efgh 8:ijkl 12:mnop'],
    [11, '8:ijkl 12:mnop'],
  ])('has what fits into %i bytes, and each frame is sent once', (kept, again) => {
    const log = filled();
    const starts: unknown[] = [];
    for (let entry = log.next(kept); entry && starts.length < 9; entry = log.next(kept))
      starts.push('start' in entry && entry.start);
    expect(starts).toEqual([0, 4, 8, 12]);
    expect(sketch(log, kept)).toBe(again);
  });

  it('has no end that a worker was told before', () => {
    const log = filled();
    log.order('end');
    expect(sketch(log)).toMatch(/ end$/);
    expect(sketch(log)).toBe('0:abcd 4:efgh 8:ijkl 12:mnop');
  });

  it('is followed by what no worker has got yet, which nothing completes', () => {
    const log = sent(filled());
    log.order('reopen');
    log.append(Buffer.from('qr'));
    log.completed(Infinity);
    expect(log.nextStart).toBe(16);
    expect(sketch(log)).toBe('reopen 16:qr');
  });
});

describe('the state of a transcriber', () => {
  const restored = (state: AudioLog['state'], audio: JournalAudio[]): string => {
    const log = new AudioLog();
    log.restore(state, audio);
    expect(log.state.position).toBe(state.position);
    return sketch(log);
  };

  it('is kept from the first audio that is not answered, with the commits behind it', () => {
    const log = new AudioLog();
    log.append(Buffer.from('abcd'));
    log.commit();
    sent(log).completed(2);
    log.append(Buffer.from('ef'));
    log.commit();
    log.order('reopen');
    expect(log.state).toEqual({ position: 6, keepFrom: 2, commits: [4, 6] });
  });

  it('needs nothing from before when all is answered', () => {
    const log = sent(filled());
    log.completed(16);
    expect(log.state).toEqual({ position: 16, keepFrom: 16, commits: [] });
  });

  it('is said again with each commit in its place, and nothing of what is answered', () => {
    const pieces = [
      { start: 0, pcm: Buffer.from('abcdef') },
      { start: 6, pcm: Buffer.from('ghijkl') },
    ];
    expect(restored({ position: 10, keepFrom: 2, commits: [4, 6, 10] }, pieces)).toBe(
      '2:cd 4| 4:ef 6| 6:ghij 10|',
    );
  });

  it('keeps a commit behind audio that is lost', () => {
    expect(restored({ position: 4, keepFrom: 0, commits: [4] }, [])).toBe('4|');
  });
});
