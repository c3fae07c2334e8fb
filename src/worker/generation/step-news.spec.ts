import { describe, expect, it } from '@jest/globals';
import { type LiveSequence } from './live-sequence.js';
import { StepNews } from './step-news.js';

/** Writes down what it hears; `on` is called first. */
function listener(name: string, heard: string[], on: () => void = () => undefined): LiveSequence {
  const hear = (what: string): void => {
    heard.push(`${name} ${what}`);
    on();
  };
  return { emitted: () => hear('token'), ended: () => hear('end') } as unknown as LiveSequence;
}
const END = { type: 'finished', reason: 'stop' } as const;

describe('StepNews', () => {
  it('tells at once, unless it is held: then in order, when it is asked to', () => {
    const heard: string[] = [];
    const news = new StepNews();
    const [a, b] = [listener('a', heard), listener('b', heard)];
    news.hear({ sequence: a });
    news.hold(() => {
      news.hear({ sequence: b });
      news.hear({ sequence: a, end: END });
    });
    expect([heard, news.waiting]).toEqual([['a token'], 2]);
    news.spread();
    expect(heard).toEqual(['a token', 'b token', 'a end']);
  });

  it('tells what comes of telling behind what was there', () => {
    const heard: string[] = [];
    const news = new StepNews();
    const b = listener('b', heard);
    const a = listener('a', heard, () => news.hear({ sequence: b, end: END }));
    news.hold(() => [a, b].forEach(sequence => news.hear({ sequence })));
    news.spread();
    expect(heard).toEqual(['a token', 'b token', 'b end']);
  });

  it('goes on with the next one after one that could not be told', () => {
    const heard: string[] = [];
    const news = new StepNews();
    const broken = listener('a', heard, () => {
      throw new Error('a listener');
    });
    news.hold(() => [broken, listener('b', heard)].forEach(sequence => news.hear({ sequence })));
    expect(() => news.spread()).toThrow('a listener');
    news.spread();
    expect(heard).toEqual(['a token', 'b token']);
  });
});
