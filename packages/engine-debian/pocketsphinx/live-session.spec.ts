import { describe, expect, it } from '@jest/globals';
import { type Decoder } from './decoder.js';
import { LiveSession } from './live-session.js';

const RATE = 16_000;

/**
 * A decoder that writes down what it is told, in seconds, and hears one word per
 * 0.2 s fed.
 */
class ScriptedDecoder {
  readonly log: string[] = [];
  #fed = 0;

  cepstralMean(samples: Int16Array): Float32Array {
    this.log.push(`mean ${samples.length / RATE}`);
    return new Float32Array(13);
  }
  begin(): void {
    this.#fed = 0;
  }
  feed(samples: Int16Array): void {
    this.#fed += samples.length;
  }
  hypothesis(): string {
    return Array<string>(Math.floor(this.#fed / (0.2 * RATE)))
      .fill('word(2)')
      .join(' ');
  }
  finish() {
    this.log.push(`finish ${this.#fed / RATE}`);
    this.#fed = 0;
    return [{ word: 'final', start: 0.1, end: 0.2, confidence: 1 }];
  }
  abandon(): void {
    if (this.#fed > 0) this.log.push(`abandon ${this.#fed / RATE}`);
    this.#fed = 0;
  }
}

function session({ partials = true, isCancelled = (): boolean => false } = {}) {
  const decoder = new ScriptedDecoder();
  const parts = { decoder: decoder as unknown as Decoder, partials, isCancelled };
  return { decoder, session: new LiveSession(parts) };
}

const seconds = (length: number) => new Int16Array(Math.round(length * RATE));

describe('LiveSession', () => {
  it('gives no partial before 0.6 s, then one whenever the text changed', () => {
    const { session: stream } = session();
    expect(stream.push(seconds(0.59))).toEqual([]);
    expect(stream.push(seconds(0.01))).toEqual([
      { type: 'partial', utterance: 0, text: 'word word word' },
    ]);
    expect(stream.push(seconds(0.1))).toEqual([]);
    expect(stream.push(seconds(0.1))).toMatchObject([{ text: 'word word word word' }]);
  });

  it('answers the same whatever size the frames have', () => {
    const audio = seconds(3.07);
    const inFrames = (size: number) => {
      const { session: stream } = session();
      const events = [];
      for (let at = 0; at < audio.length; at += size)
        events.push(...stream.push(audio.subarray(at, at + size)));
      return [...events, ...stream.commit()];
    };
    expect(inFrames(333)).toEqual(inFrames(audio.length));
  });

  it('restarts the pass at 1.6 and 3.2 s with the mean of all so far; only the rest is left at the end', () => {
    const { decoder, session: stream } = session();
    stream.push(seconds(5.05));
    expect(decoder.log).toEqual(['mean 0.6', 'abandon 1.5', 'mean 1.6', 'abandon 3.1', 'mean 3.2']);
    decoder.log.length = 0;
    stream.commit();
    expect(decoder.log).toEqual(['finish 5.05']);
  });

  it.each([0.3, 0.7, 1.55])('decodes an utterance of %d s again with its own mean', length => {
    const { decoder, session: stream } = session();
    stream.push(seconds(length));
    stream.commit();
    expect(decoder.log.slice(-2)).toEqual([`mean ${length}`, `finish ${length}`]);
  });

  it('decodes the same way for a caller that wants no partials', () => {
    const logs = [true, false].map(partials => {
      const { decoder, session: stream } = session({ partials });
      const events = [...stream.push(seconds(4)), ...stream.commit()];
      expect(events.some(({ type }) => type === 'partial')).toBe(partials);
      return decoder.log;
    });
    expect(logs[0]).toEqual(logs[1]);
  });

  it('begins every utterance anew', () => {
    const { decoder, session: stream } = session();
    stream.push(seconds(2));
    stream.commit();
    decoder.log.length = 0;
    stream.push(seconds(0.7));
    expect(decoder.log).toEqual(['mean 0.6']);
  });

  it('says nothing about an utterance without a sample, and asks no decoder', () => {
    const { decoder, session: stream } = session();
    expect(stream.commit()).toMatchObject([{ type: 'final', text: '', words: [] }]);
    expect(decoder.log).toEqual([]);
  });

  it('gives the final the times of the stream', () => {
    const { session: stream } = session();
    stream.push(seconds(2));
    stream.commit();
    stream.push(seconds(1));
    expect(stream.commit()).toEqual([
      {
        type: 'final',
        utterance: 1,
        text: 'final',
        start: 2,
        end: 3,
        words: [{ word: 'final', start: 2.1, end: 2.2, confidence: 1 }],
      },
    ]);
  });

  it('decodes an utterance of 65 s in pieces of 30 s, and gives one final when it is committed', () => {
    const { session: stream } = session();
    const events = stream.push(seconds(65));
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['partial']));
    expect(events.at(-1)).toMatchObject({ text: expect.stringMatching(/^final final word word/) });
    expect(stream.commit()).toEqual([
      {
        type: 'final',
        utterance: 0,
        text: 'final final final',
        start: 0,
        end: 65,
        words: [0, 30, 60].map(at => ({
          word: 'final',
          start: at + 0.1,
          end: at + 0.2,
          confidence: 1,
        })),
      },
    ]);
    stream.push(seconds(1));
    expect(stream.commit()).toMatchObject([{ utterance: 1, text: 'final', start: 65, end: 66 }]);
  });

  it('works no more once cancelled, in the middle of a pass neither', () => {
    let cancelled = false;
    const { decoder, session: stream } = session({ isCancelled: () => cancelled });
    stream.push(seconds(2));
    decoder.log.length = 0;
    cancelled = true;
    expect(stream.push(seconds(5))).toEqual([]);
    expect(stream.commit()).toMatchObject([{ text: '' }]);
    expect(decoder.log).toEqual([]);
  });
});
