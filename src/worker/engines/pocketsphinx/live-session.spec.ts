import { describe, expect, it } from '@jest/globals';
import { type Decoder } from './decoder.js';
import { LiveSession } from './live-session.js';

const RATE = 16_000;

/** A decoder that writes down what it is told, in seconds, and hears one word per 0.2 s fed. */
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
    return [{ word: 'final', start: 0.1, end: 0.2, confidence: 1 }];
  }
  abandon(): void {
    this.log.push('abandon');
  }
}

function session(isCancelled = () => false) {
  const [full, live] = [new ScriptedDecoder(), new ScriptedDecoder()];
  const parts = { full: full as unknown as Decoder, live: live as unknown as Decoder, isCancelled };
  return { live, full, session: new LiveSession(parts) };
}

const seconds = (length: number) => new Int16Array(Math.round(length * RATE));

describe('LiveSession', () => {
  it('gives no partial before 0.6 s, then one whenever the text changed', () => {
    const { session: stream } = session();
    expect(stream.push(seconds(0.59))).toEqual([]);
    expect(stream.push(seconds(0.01))).toEqual([{ type: 'partial', utterance: 0, text: 'word word word' }]);
    expect(stream.push(seconds(0.1))).toEqual([]);
    expect(stream.push(seconds(0.1))).toMatchObject([{ text: 'word word word word' }]);
  });

  it('answers the same whatever size the frames have', () => {
    const audio = seconds(3.07);
    const inFrames = (size: number) => {
      const { session: stream } = session();
      const events = [];
      for (let at = 0; at < audio.length; at += size) events.push(...stream.push(audio.subarray(at, at + size)));
      return [...events, ...stream.commit()];
    };
    expect(inFrames(333)).toEqual(inFrames(audio.length));
  });

  it('primes with 0.6 s, again with 0.8 s, and not after that', () => {
    const { live, session: stream } = session();
    stream.push(seconds(5));
    expect(live.log).toEqual(['mean 0.6', 'abandon', 'mean 0.8']);
  });

  it('primes every utterance anew', () => {
    const { live, session: stream } = session();
    stream.push(seconds(1));
    stream.commit();
    stream.push(seconds(0.7));
    expect(live.log).toEqual(['mean 0.6', 'abandon', 'mean 0.8', 'abandon', 'mean 0.6']);
  });

  it('gives the final the times of the stream', () => {
    const { session: stream } = session();
    stream.push(seconds(2));
    stream.commit();
    stream.push(seconds(1));
    expect(stream.commit()).toEqual([
      {
        ...{ type: 'final', utterance: 1, text: 'final', start: 2, end: 3 },
        words: [{ word: 'final', start: 2.1, end: 2.2, confidence: 1 }],
      },
    ]);
  });

  it('ends an utterance of 30 s that nobody ends', () => {
    const { session: stream } = session();
    const finals = stream.push(seconds(65)).filter(({ type }) => type === 'final');
    expect(finals).toMatchObject([
      { utterance: 0, start: 0, end: 30 },
      { utterance: 1, start: 30, end: 60 },
    ]);
  });

  it('works no more once cancelled', () => {
    const { live, session: stream } = session(() => true);
    expect(stream.push(seconds(5))).toEqual([]);
    expect(live.log).toEqual([]);
  });
});
