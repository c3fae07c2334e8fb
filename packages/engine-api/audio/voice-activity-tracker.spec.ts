import { describe, expect, it } from '@jest/globals';
import { FRAME_SAMPLES, VoiceActivityTracker, type VoiceEvent } from './voice-activity-tracker.js';

const FRAME_S = FRAME_SAMPLES / 16_000;
const options = { threshold: 0.5, prefixPaddingMs: 256, silenceDurationMs: 320 };

/** One character per frame of 32 ms: `#` speech, `~` in between, `.` none. */
function hear(tracker: VoiceActivityTracker, frames: string) {
  const probability: Record<string, number> = { '#': 0.9, '~': 0.4, '.': 0.1 };
  const events: VoiceEvent[] = [];
  for (const frame of frames) {
    const event = tracker.next(probability[frame] ?? 0);
    if (event) events.push(event);
  }
  return events.map(inFrames);
}

function inFrames(event: VoiceEvent) {
  const sample = event.type === 'started' ? event.audioFrom : event.audioTo;
  return `${event.type} ${Math.round(event.atS / FRAME_S)} audio ${sample / FRAME_SAMPLES}`;
}

const times = (count: number, frames: string) => frames.repeat(count);

describe('VoiceActivityTracker', () => {
  it('starts where speech began, with 8 frames of padding before it, and stops after 10 frames of silence', () => {
    const tracker = new VoiceActivityTracker(options);
    expect(hear(tracker, times(20, '.') + times(30, '#') + times(15, '.'))).toEqual([
      'started 20 audio 12',
      'stopped 50 audio 60',
    ]);
  });

  it('never pads into the start of the stream or into the utterance before', () => {
    const tracker = new VoiceActivityTracker(options);
    expect(hear(tracker, '..' + times(10, '#') + times(10, '.') + '.' + times(5, '#'))).toEqual([
      'started 2 audio 0',
      'stopped 12 audio 22',
      'started 23 audio 22',
    ]);
  });

  it('does not believe two frames, and counts anew after them', () => {
    expect(
      hear(new VoiceActivityTracker(options), times(10, '##.') + '##~##~' + times(10, '.')),
    ).toEqual([]);
  });

  it('goes on through shorter silences and through dips above the lower threshold', () => {
    const tracker = new VoiceActivityTracker(options);
    expect(
      hear(tracker, '####' + times(9, '.') + '#' + times(9, '.') + '#' + times(40, '~')),
    ).toEqual(['started 0 audio 0']);
  });

  it('ends what is said by finish, the last samples included, and starts again behind it', () => {
    const tracker = new VoiceActivityTracker(options);
    hear(tracker, '######');
    expect(tracker.finish(6.5 * FRAME_SAMPLES).map(inFrames)).toEqual(['stopped 7 audio 6.5']);
    expect(hear(tracker, '###')).toEqual(['started 6 audio 6.5']);
  });

  it('believes in finish what has only just begun, and tells nothing in silence', () => {
    const tracker = new VoiceActivityTracker(options);
    hear(tracker, times(20, '.') + '##');
    expect(tracker.finish(22 * FRAME_SAMPLES).map(inFrames)).toEqual([
      'started 20 audio 12',
      'stopped 22 audio 22',
    ]);
    expect(tracker.finish(22 * FRAME_SAMPLES)).toEqual([]);
  });

  it('takes ever shorter pauses as the end from 8 s on, 2 frames at 13 s', () => {
    const paused = (seconds: number, pause: number) =>
      hear(
        new VoiceActivityTracker(options),
        times(Math.round(seconds / FRAME_S), '#') + times(pause, '.') + '##',
      ).join();
    expect(paused(7, 9)).not.toContain('stopped');
    expect(paused(10.5, 3)).not.toContain('stopped');
    expect(paused(10.5, 5)).toContain('stopped');
    expect(paused(13.5, 2)).toContain('stopped');
  });

  it('says which audio may still be claimed: padding before silence, all of an utterance', () => {
    const tracker = new VoiceActivityTracker(options);
    hear(tracker, times(100, '.'));
    expect(tracker.claimableFrom / FRAME_SAMPLES).toBe(92);
    hear(tracker, times(50, '#'));
    expect(tracker.claimableFrom / FRAME_SAMPLES).toBe(92);
  });
});
