import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EngineCapability, type ItemOutcome } from '@switchyard/engine-api/engine.js';
import {
  type PreparedAudio,
  type RecognizerEvent,
  type SpeechRecognizer,
  type TranscribeItem,
  type RecognizedTranscript,
} from '@switchyard/engine-api/speech-recognizer.js';
import { transcribeItem } from './engine-items.js';

/** What the suite needs to know of one engine. */
export interface RecognizerSubject {
  /** Options with at least two streams, if it has any. */
  readonly engine: SpeechRecognizer;
  readonly first: PreparedAudio;
  readonly second: PreparedAudio;
  readonly empty: PreparedAudio;
  /**
   * Work for longer than a test may last, so that a cancel that does nothing
   * fails by timeout.
   */
  readonly endless: PreparedAudio;
  /** Fails at this engine, on its own account. */
  readonly failing: Parameters<typeof transcribeItem>;
  /**
   * Mono 16 kHz for streams: two utterances. Absent from an engine without live streams.
   */
  readonly utterances?: readonly [Int16Array, Int16Array];
}

/** The rules of `SpeechRecognizer`, run against every recogniser. */
export function describeSpeechRecognizer(
  name: string,
  create: () => Promise<RecognizerSubject>,
  { streams }: { readonly streams: boolean } = { streams: true },
): void {
  describe(`${name} keeps the SpeechRecognizer contract`, () => {
    let subject: RecognizerSubject;
    let engine: SpeechRecognizer;
    let solo: readonly [RecognizedTranscript, RecognizedTranscript];

    beforeAll(async () => {
      subject = await create();
      engine = subject.engine;
      await engine.load();
      solo = [
        await transcribeOne(engine, subject.first),
        await transcribeOne(engine, subject.second),
      ];
    });
    afterAll(() => engine.close());

    it('tells after load what it is and how much it takes', () => {
      expect(engine.info.revision).not.toBe('');
      expect(engine.info.capabilities).toContain('transcribe');
      expect(engine.info.maxBatch).toBeGreaterThanOrEqual(1);
      expect(engine.info.maxConcurrent).toBeGreaterThanOrEqual(1);
    });

    it('answers an empty group with an empty list', async () => {
      expect(await engine.transcribe([])).toEqual([]);
    });

    it('answers two different items in the order of the group, each as when alone', async () => {
      expect(solo[0].text).not.toEqual(solo[1].text);
      const items = [subject.first, subject.second].map(audio => transcribeItem(audio));
      expect(valuesOf(await engine.transcribe(items))).toEqual(solo);
      expect(valuesOf(await engine.transcribe(items.toReversed()))).toEqual(solo.toReversed());
    });

    it('gives the same answer to the same audio whatever it heard before', async () => {
      await transcribeOne(engine, subject.second);
      expect(await transcribeOne(engine, subject.first)).toEqual(solo[0]);
      await transcribeOne(engine, subject.empty);
      expect(await transcribeOne(engine, subject.first)).toEqual(solo[0]);
    });

    it('keeps the failure of one item away from its neighbours', async () => {
      const failing = transcribeItem(...subject.failing);
      const outcomes = await engine.transcribe([
        transcribeItem(subject.first),
        failing,
        transcribeItem(subject.second),
      ]);
      expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true]);
      expect(valuesOf(outcomes.filter(({ ok }) => ok))).toEqual(solo);
    });

    it('answers empty audio with an empty text, not with an error', async () => {
      expect(await transcribeOne(engine, subject.empty)).toMatchObject({
        text: '',
        segments: [],
        words: [],
      });
    });

    it('gives words in order and inside the audio, segments that say the whole text', () => {
      const { text, words, segments } = solo[0];
      expect(words.map(({ word }) => word).join(' ')).toBe(text);
      expect(segments.map(segment => segment.text).join(' ')).toBe(text);
      let before = 0;
      for (const { start, end, confidence } of words) {
        expect(start).toBeGreaterThanOrEqual(before);
        expect(end).toBeGreaterThanOrEqual(start);
        expect(end).toBeLessThanOrEqual(subject.first.durationS + 1e-9);
        expect(confidence).toBeGreaterThanOrEqual(0);
        expect(confidence).toBeLessThanOrEqual(1);
        before = end - 1e-9;
      }
    });

    it('leaves words out when they are not asked for', async () => {
      const [outcome] = await engine.transcribe([
        transcribeItem(subject.first, { wordTimestamps: false }),
      ]);
      expect(valuesOf([outcome!])[0]).toEqual({ ...solo[0], words: [] });
    });

    describeAbilities(() => subject);

    it('answers an item aborted before the call as cancelled, its neighbour as usual', async () => {
      const aborted = transcribeItem(subject.first, { signal: AbortSignal.abort() });
      const [gone, kept] = await engine.transcribe([aborted, transcribeItem(subject.second)]);
      expect(gone).toMatchObject({ ok: false, error: { code: 'request_cancelled' } });
      expect(valuesOf([kept!])).toEqual([solo[1]]);
    });

    it('lets go of an item aborted while it runs, and works on', async () => {
      const abort = new AbortController();
      const running = engine.transcribe([
        transcribeItem(subject.endless, { signal: abort.signal }),
      ]);
      for (let turn = 0; turn < 50; turn++) await nextTurn();
      abort.abort();
      expect(await running).toMatchObject([{ ok: false, error: { code: 'request_cancelled' } }]);
      expect(await transcribeOne(engine, subject.first)).toEqual(solo[0]);
    });

    if (streams) describeStreams(() => subject);
    else
      it('says that it has no live streams', () => {
        expect(engine.info.streams).toBe(0);
        expect(engine.openStream).toBeUndefined();
      });

    it('closes once, however often it is asked', async () => {
      await Promise.all([engine.close(), engine.close()]);
      await engine.close();
    });
  });
}

/** Rows for engines that claim the capability; the others are never asked. */
function describeAbilities(of: () => RecognizerSubject) {
  const claims = (capability: EngineCapability) =>
    of().engine.info.capabilities.includes(capability);
  const ask = async (changes: Partial<TranscribeItem>, audio = of().first) =>
    valuesOf(
      await of().engine.transcribe([transcribeItem(audio, { wordTimestamps: false, ...changes })]),
    )[0]!;

  it('with logprobs spells the text in tokens whose logarithms are not above 0, and only when asked', async () => {
    if (!claims('logprobs')) return;
    const { text, logprobs = [] } = await ask({ logprobs: true });
    const bytes = Buffer.concat(logprobs.map(token => token.bytes)).toString();
    const tokens = logprobs.map(({ token }) => token).join('');
    expect([bytes.trim(), tokens.trim()]).toEqual([text, text]);
    expect(logprobs.every(({ logprob }) => logprob <= 0)).toBe(true);
    expect((await ask({})).logprobs ?? []).toEqual([]);
    expect((await ask({ logprobs: true }, of().empty)).logprobs ?? []).toEqual([]);
  });

  it('with diarize names a speaker on each segment in order of time, strangers from "A"; else on none', async () => {
    if (!claims('diarize')) return;
    const { text, segments } = await ask({ diarize: true });
    expect(segments.map(segment => segment.text).join(' ')).toBe(text);
    expect(segments[0]!.speaker).toBe('A');
    expect(segments.every(({ speaker }) => /^[A-Z]$/.test(speaker ?? ''))).toBe(true);
    expect(
      segments.every(({ start, end }, i) => end >= start && start >= (segments[i - 1]?.start ?? 0)),
    ).toBe(true);
    expect((await ask({})).segments.every(({ speaker }) => speaker === undefined)).toBe(true);
  });

  it('with hot words hears them, and each item its own', async () => {
    if (!claims('hot_words')) return;
    const item = (hotWords: readonly string[]) => transcribeItem(of().first, { hotWords });
    const outcomes = valuesOf(
      await of().engine.transcribe([item([]), item(['Switchyard']), item([])]),
    );
    expect(outcomes[0]).toEqual(outcomes[2]);
    expect(outcomes[1]!.text).not.toBe('');
  });
}

function describeStreams(of: () => RecognizerSubject) {
  describe('live', () => {
    let engine: SpeechRecognizer;
    let utterances: readonly [Int16Array, Int16Array];

    beforeAll(() => {
      engine = of().engine;
      utterances = of().utterances!;
    });

    it('partials first, one final per commit, times that go on, utterances counted from 0', async () => {
      const stream = await engine.openStream!({ language: 'en', partials: true });
      const spoken = await pushAll(stream, utterances[0]);
      const first = finalOf(await stream.commit());
      await pushAll(stream, utterances[1]);
      const second = finalOf(await stream.commit());
      const silent = finalOf(await stream.commit());
      await stream.close();
      expect(new Set(spoken.map(({ type }) => type))).toEqual(new Set(['partial']));
      expect(first.text).not.toBe('');
      expect([first, second, silent].map(({ utterance }) => utterance)).toEqual([0, 1, 2]);
      expect([first.start, second.start, silent.start]).toEqual([0, first.end, second.end]);
      expect(
        second.words.every(({ start, end }) => start >= second.start && end <= second.end + 1e-9),
      ).toBe(true);
      expect(silent.text).toBe('');
    });

    it('no partial unless wanted, and a reused stream remembers nothing', async () => {
      const finals = [];
      for (const order of [[0, 1], [0]] as const) {
        const stream = await engine.openStream!({ language: '', partials: false });
        for (const i of order) {
          expect(await pushAll(stream, utterances[i])).toEqual([]);
          finals.push(finalOf(await stream.commit()));
        }
        await stream.close();
      }
      expect(finals[2]).toEqual(finals[0]);
    });

    it('one more than there are is refused, until one closes', async () => {
      const open = () => engine.openStream!({ language: 'en', partials: false });
      const streams = await Promise.all(Array.from({ length: engine.info.streams }, open));
      await expect(open()).rejects.toMatchObject({ code: 'queue_full' });
      await streams[0]!.close();
      await streams[0]!.close();
      streams.push(await open());
      await Promise.all(streams.map(stream => stream.close()));
      await expect(streams[1]!.push(utterances[0])).rejects.toThrow('closed');
    });
  });
}

export function valuesOf<T>(outcomes: readonly ItemOutcome<T>[]): T[] {
  return outcomes.map(outcome => {
    if (!outcome.ok) throw outcome.error;
    return outcome.value;
  });
}

export async function transcribeOne(
  engine: SpeechRecognizer,
  audio: PreparedAudio,
): Promise<RecognizedTranscript> {
  return valuesOf(await engine.transcribe([transcribeItem(audio)]))[0]!;
}

async function pushAll(
  stream: { push(samples: Int16Array): Promise<readonly RecognizerEvent[]> },
  samples: Int16Array,
): Promise<RecognizerEvent[]> {
  const events: RecognizerEvent[] = [];
  // 48 ms: not a divisor of any step an engine may work in.
  for (let at = 0; at < samples.length; at += 768)
    events.push(...(await stream.push(samples.subarray(at, at + 768))));
  return events;
}

function finalOf(events: readonly RecognizerEvent[]) {
  const finals = events.filter(event => event.type === 'final');
  expect(finals).toHaveLength(1);
  return finals[0]!;
}
