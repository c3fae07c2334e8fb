import { describe, expect, it } from '@jest/globals';
import { type StreamEvent } from '@switchyard/worker-protocol/call.codec.js';
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

/** Items, each call of which returns the events that it sends. */
function recorded() {
  let sent: ServerEvent[] = [];
  const items = new TranscriptItems(event => sent.push(event));
  const eventsOf =
    <A extends unknown[]>(act: (...given: A) => void) =>
    (...given: A): ServerEvent[] => {
      sent = [];
      act(...given);
      return sent;
    };
  return {
    items,
    receive: eventsOf((event: StreamEvent) => items.receive(event)),
    commit: eventsOf(() => items.commit()),
    fail: eventsOf((error: DomainError) => items.fail(error)),
  };
}

describe('utterances as items', () => {
  it('of voice activity are sent in order, each once', () => {
    const { items, receive } = recorded();
    expect(brief(receive(speech('speech_started', 0)))).toEqual(['speech_started']);
    expect(items.speaking).toBe(true);
    expect(brief(receive(speech('speech_stopped', 0)))).toEqual(['speech_stopped', 'committed']);
    expect(items.speaking).toBe(false);
    expect(brief(receive(final(0, 'hello')))).toEqual(['delta', 'segment', 'completed']);
    expect(items.pending).toBe(false);
  });

  it('are not sent again when a replacement worker detects them again', () => {
    const { receive } = recorded();
    receive(speech('speech_started', 0));
    expect(receive(speech('speech_started', 0))).toEqual([]);
    receive(speech('speech_stopped', 0));
    expect(receive(speech('speech_stopped', 0))).toEqual([]);
  });

  it('may end while the next one begins: finals come later', () => {
    const { items, receive } = recorded();
    receive(speech('speech_started', 0));
    const [, committed] = receive(speech('speech_stopped', 0));
    receive(speech('speech_started', 1));
    const completed = receive(final(0, 'one')).at(-1);
    expect(completed?.item_id).toBe(committed?.item_id);
    expect(items.pending).toBe(true);
  });

  it('that an engine ends by itself are committed by their final, and a commit under way names the next', () => {
    const { receive, commit } = recorded();
    expect(brief(receive(final(0, 'thirty seconds')))).toEqual([
      'committed',
      'delta',
      'segment',
      'completed',
    ]);
    const [committed] = commit();
    expect(receive(final(1, 'rest')).at(-1)?.item_id).toBe(committed?.item_id);
  });

  it('of silence are sent only after a commit', () => {
    const { receive, commit } = recorded();
    expect(receive(final(0, ''))).toEqual([]);
    commit();
    expect(brief(receive(final(1, '')))).toEqual(['completed']);
  });

  it('that were cleared have no events, and the next one has the next number', () => {
    const { items, receive, commit } = recorded();
    items.clear();
    const [committed] = commit();
    expect(receive(final(0, 'never mind'))).toEqual([]);
    expect(receive(final(1, 'this'))[0]?.item_id).toBe(committed?.item_id);
  });

  it('that fail are announced, named and counted', () => {
    const { items, receive, fail } = recorded();
    receive({ type: 'partial', utterance: 0, text: 'a' });
    const events = fail(new DomainError('engine_failed', 'no'));
    expect(brief(events)).toEqual(['committed', 'failed']);
    expect(items.finals).toBe(1);
    expect(items.pending).toBe(false);
  });
});

describe('events about an utterance', () => {
  const lasting = (utterance: number, text: string) => ({
    ...final(utterance, text),
    end: utterance + 1.5,
  });

  it('name its item, its place, its length and its number', () => {
    const { items, receive } = recorded();
    expect([items.finals, items.state.segments]).toEqual([0, 0]);
    const [started] = receive(speech('speech_started', 0));
    const id = started!.item_id;
    expect(started).toMatchObject({ audio_start_ms: 0 });
    const [stopped, ...announced] = receive({ ...speech('speech_stopped', 0), at: 1.2345 });
    expect(stopped).toMatchObject({ audio_end_ms: 1235, item_id: id });
    const item = { id, status: 'completed', content: [{ type: 'input_audio', transcript: null }] };
    expect(announced).toMatchObject([
      { type: 'input_audio_buffer.committed', previous_item_id: null, item_id: id },
      { type: 'conversation.item.added', previous_item_id: null, item },
      { type: 'conversation.item.done', previous_item_id: null, item },
    ]);
    const about = { item_id: id, content_index: 0 };
    expect(receive(lasting(0, 'hello'))).toMatchObject([
      { ...about, delta: 'hello' },
      { ...about, id: 'seg_0', number: 0, text: 'hello', start: 0, end: 1.5 },
      { ...about, transcript: 'hello', usage: { type: 'duration', seconds: 1.5 } },
    ]);
    expect(receive(final(1, 'again'))[0]).toMatchObject({ previous_item_id: id });
    expect(items.state).toMatchObject({ next: 2, finals: 2, segments: 2 });
  });

  it('that has ended are not those of the next commit', () => {
    const { receive, commit, fail } = recorded();
    receive(speech('speech_started', 0));
    receive(speech('speech_stopped', 0));
    const [committed] = commit();
    expect(committed).toMatchObject({ type: 'input_audio_buffer.committed' });
    const failed = fail(new DomainError('engine_failed', 'no'));
    expect(
      failed.map(({ item_id: id, content_index: at }) => [id === committed!.item_id, at]),
    ).toEqual([
      [false, 0],
      [true, 0],
    ]);
  });

  it('continue at another gateway', () => {
    const { items, receive } = recorded();
    receive(final(0, 'one'));
    const [started] = receive(speech('speech_started', 1));
    const sent: ServerEvent[] = [];
    const other = new TranscriptItems(event => sent.push(event), undefined, items.state);
    expect(other.state).toEqual(items.state);
    other.receive(final(1, 'two'));
    expect(sent.at(-1)).toMatchObject({ item_id: started!.item_id, transcript: 'two' });
    expect(sent).toContainEqual(expect.objectContaining({ id: 'seg_1' }));
  });
});

/** Every delta that is not empty. */
const deltas = (guesses: string[], final: string, agreement = 3): string[] => {
  const sent: string[] = [];
  const items = new TranscriptItems(({ type, delta }) => {
    if (type.endsWith('.delta')) sent.push(String(delta));
  });
  items.agreeing(agreement);
  for (const text of guesses) items.receive({ type: 'partial', utterance: 0, text });
  items.receive({
    type: 'final',
    utterance: 0,
    text: final,
    start: 0,
    end: 1,
    words: [],
  });
  return sent;
};
const thrice = (guess: string): string[] => [guess, guess, guess];

describe('deltas of revised guesses', () => {
  it('says a word when three guesses agree on it and another follows', () => {
    const guesses = ['the', 'the train', 'the train is', 'the train is on'];
    expect(deltas(guesses, 'the train is on time')).toEqual(['the', ' train', ' is on time']);
  });

  it('of a recogniser whose guesses are far apart two are enough', () => {
    const guesses = ['the', 'the train is', 'the train is on', 'the train is late today'];
    expect(deltas(guesses, 'the train is late', 2)).toEqual(['the', ' train is', ' late']);
  });

  it('of such a recogniser one guess is enough for up to three first words that as many follow', () => {
    const guesses = ['the train is', 'the train is on the right track'];
    expect(deltas(guesses.slice(1), '', 2)).toEqual(['the train is']);
    expect(deltas([guesses[0]!, 'the train was late now'], '', 2)).toEqual(['the train']);
    expect(deltas(guesses.slice(1), '')).toEqual([]);
  });

  it('guesses agree on a word whatever its case and punctuation', () => {
    const guesses = ['the train.', 'The train is'];
    expect(deltas(guesses, 'The train is late.', 2)).toEqual(['The train', ' is late.']);
  });

  it('holds back what still changes, and what follows it', () => {
    const guesses = [
      'a wreck a nice',
      'a recognise speech',
      'a recognise speech',
      'a recognise speech now',
    ];
    expect(deltas(guesses, 'a recognise speech')).toEqual(['a', ' recognise speech']);
  });

  it('continues where it fits best when a word that was sent turns out wrong', () => {
    const guesses = [...thrice('the train is on'), ...thrice('the trainers on the right')];
    expect(deltas(guesses, 'the trainers on the right track').join('')).toBe(
      'the train is the right track',
    );
  });

  it('says nothing twice when the final text is shorter than what was said', () => {
    expect(deltas(thrice('one two three four'), 'one two')).toEqual(['one two three']);
  });

  it('sends everything at the end without guesses', () => {
    expect(deltas([], 'hello world')).toEqual(['hello world']);
  });

  it('repeats nothing when a new worker guesses from the beginning', () => {
    const again = ['one', 'one two', 'one two three', ...thrice('one two three four')];
    expect(deltas([...thrice('one two three'), ...again], 'one two three four')).toEqual([
      'one two',
      ' three',
      ' four',
    ]);
  });

  it('counts characters as words in scripts without spaces', () => {
    expect(deltas(thrice('今日はい'), '今日はいい天気')).toEqual(['今日は', 'いい天気']);
  });
});
