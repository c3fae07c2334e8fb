import { describe, expect, it } from '@jest/globals';
import { type ServerEvent } from '../../../contracts/realtime/realtime-event.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { TranscriptItems } from './transcript-items.js';

const final = (utterance: number, text: string) =>
  ({
    type: 'final',
    utterance,
    text,
    start: utterance,
    end: utterance + 1,
    words: [],
  }) as const;
const speech = (type: 'speech_started' | 'speech_stopped', utterance: number) =>
  ({ type, utterance, at: utterance }) as const;
const brief = (events: readonly ServerEvent[]): string[] =>
  events
    .map(({ type }) => type.split('.').at(-1)!)
    .filter(type => type !== 'done' && type !== 'added');

describe('utterances as items', () => {
  it('of voice activity are sent in order, each once', () => {
    const items = new TranscriptItems();
    expect(brief(items.receive(speech('speech_started', 0)))).toEqual(['speech_started']);
    expect(items.speaking).toBe(true);
    expect(brief(items.receive(speech('speech_stopped', 0)))).toEqual([
      'speech_stopped',
      'committed',
    ]);
    expect(items.speaking).toBe(false);
    expect(brief(items.receive(final(0, 'hello')))).toEqual([
      'delta',
      'segment',
      'completed',
    ]);
    expect(items.pending).toBe(false);
  });

  it('are not sent again when a replacement worker detects them again', () => {
    const items = new TranscriptItems();
    items.receive(speech('speech_started', 0));
    expect(items.receive(speech('speech_started', 0))).toEqual([]);
    items.receive(speech('speech_stopped', 0));
    expect(items.receive(speech('speech_stopped', 0))).toEqual([]);
  });

  it('may end while the next one begins: finals come later', () => {
    const items = new TranscriptItems();
    items.receive(speech('speech_started', 0));
    const [, committed] = items.receive(speech('speech_stopped', 0));
    items.receive(speech('speech_started', 1));
    const completed = items.receive(final(0, 'one')).at(-1);
    expect(completed?.item_id).toBe(committed?.item_id);
    expect(items.pending).toBe(true);
  });

  it('that an engine ends by itself are committed by their final, and a commit under way names the next', () => {
    const items = new TranscriptItems();
    expect(brief(items.receive(final(0, 'thirty seconds')))).toEqual([
      'committed',
      'delta',
      'segment',
      'completed',
    ]);
    const [committed] = items.commit();
    expect(items.receive(final(1, 'rest')).at(-1)?.item_id).toBe(committed?.item_id);
  });

  it('of silence are sent only after a commit', () => {
    const items = new TranscriptItems();
    expect(items.receive(final(0, ''))).toEqual([]);
    items.commit();
    expect(brief(items.receive(final(1, '')))).toEqual(['completed']);
  });

  it('that were cleared have no events, and the next one has the next number', () => {
    const items = new TranscriptItems();
    items.clear();
    const [committed] = items.commit();
    expect(items.receive(final(0, 'never mind'))).toEqual([]);
    expect(items.receive(final(1, 'this'))[0]?.item_id).toBe(committed?.item_id);
  });

  it('that fail are announced, named and counted', () => {
    const items = new TranscriptItems();
    items.receive({ type: 'partial', utterance: 0, text: 'a' });
    const events = items.fail(new DomainError('engine_failed', 'no'));
    expect(brief(events)).toEqual(['committed', 'failed']);
    expect(items.next).toBe(1);
    expect(items.pending).toBe(false);
  });
});
