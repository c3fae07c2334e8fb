import { describe, expect, it } from '@jest/globals';
import { type Transcript } from '@switchyard/engine-api/speech-recognizer.js';
import { type StreamEvent } from '@switchyard/worker-protocol/call.codec.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { UtteranceStream, voiceLevel } from './utterance-stream.js';

const RATE = 24_000;
const VAD = { threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 500 };

/** Milliseconds of a tone, or of silence. */
function pcm(ms: number, amplitude: number): Buffer {
  const samples = Int16Array.from({ length: (RATE * ms) / 1000 }, (_, index) =>
    Math.round(amplitude * 32_767 * Math.sin((2 * Math.PI * 200 * index) / RATE)),
  );
  return Buffer.from(samples.buffer);
}
const speech = (ms: number) => pcm(ms, 0.3);
const silence = (ms: number) => pcm(ms, 0.0001);

const transcript = (text: string): Transcript => ({
  text,
  language: 'en',
  durationS: 1,
  segments: [],
  words: [{ word: text, start: 0.25, end: 0.5, confidence: 1 }],
});

/** Each call is answered by hand; `bytes` are those of the files. */
function recogniser() {
  const calls: {
    readonly seconds: number;
    readonly answer: (text: string) => void;
    readonly fail: (error: Error) => void;
    cancelled: boolean;
  }[] = [];
  const recognise = (wav: Buffer, seconds: number) => {
    expect(wav.subarray(0, 4).toString()).toBe('RIFF');
    const { promise, resolve, reject } = Promise.withResolvers<Transcript>();
    const call = {
      seconds,
      cancelled: false,
      fail: reject,
      answer: (text: string) => resolve(transcript(text)),
    };
    calls.push(call);
    return { transcript: promise, cancel: () => void (call.cancelled = true) };
  };
  return { calls, recognise };
}

async function send(stream: UtteranceStream, ...audio: readonly Buffer[]): Promise<void> {
  const all = Buffer.concat(audio);
  // As a client does: frames that fit no boundary of ours.
  for (let at = 0; at < all.length; at += 1001 * 2)
    await stream.sendFrame(all.subarray(at, at + 1001 * 2));
}

async function eventsOf(stream: UtteranceStream): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of stream.receiveEvents()) events.push(event);
  return events;
}

describe('UtteranceStream', () => {
  it('cuts speech at pauses; each utterance is a request, and finals come in order', async () => {
    const { calls, recognise } = recogniser();
    const stream = new UtteranceStream({
      sampleRate: RATE,
      voiceActivity: VAD,
      recognise,
    });
    const events = eventsOf(stream);
    await send(stream, silence(3000), speech(1000), silence(800), speech(2000), silence(800));
    expect(calls).toHaveLength(2);
    expect(calls[0]!.seconds).toBeGreaterThan(1.5);
    expect(calls[0]!.seconds).toBeLessThan(2);
    calls[1]!.answer('second');
    calls[0]!.answer('first');
    await stream.close();
    const all = await events;
    expect(all.map(event => [event.type, event.utterance])).toEqual([
      ['speech_started', 0] as const,
      ['speech_stopped', 0] as const,
      ['speech_started', 1] as const,
      ['speech_stopped', 1] as const,
      ['final', 0] as const,
      ['final', 1] as const,
    ]);
    const [first, second] = all.filter(event => event.type === 'final');
    expect([first!.text, second!.text]).toEqual(['first', 'second']);
    expect(first!.start).toBeCloseTo(2.7, 1);
    expect(first!.words[0]!.start).toBeCloseTo(first!.start + 0.25, 3);
    expect(second!.start).toBeGreaterThanOrEqual(first!.end);
  });

  it('a commit ends the utterance with one final; without voice activity it is what came since the last', async () => {
    const { calls, recognise } = recogniser();
    const stream = new UtteranceStream({ sampleRate: RATE, recognise });
    const events = eventsOf(stream);
    await send(stream, speech(500));
    await stream.commit();
    await send(stream, speech(250));
    await stream.commit();
    expect(calls.map(({ seconds }) => seconds)).toEqual([0.5, 0.25]);
    for (const call of calls) call.answer('x');
    await stream.close();
    // The end is a commit too, of nothing: a final without a request.
    expect((await events).map(({ type }) => type)).toEqual(['final', 'final', 'final']);
    expect(calls).toHaveLength(2);
  });

  it('cuts speech without a pause after 15 s', async () => {
    const { calls, recognise } = recogniser();
    const stream = new UtteranceStream({
      sampleRate: RATE,
      voiceActivity: VAD,
      recognise,
    });
    await send(stream, silence(1000), speech(2900), ...Array<Buffer>(8).fill(speech(2000)));
    await stream.commit();
    for (const call of calls) call.answer('x');
    for (const { seconds } of calls) expect(seconds).toBeLessThanOrEqual(15.1);
    expect(calls.length).toBeGreaterThanOrEqual(1);
    await stream.cancel();
  });

  it('asks for no more of a long session than of a short one, passes included', async () => {
    const { calls, recognise } = recogniser();
    const stream = new UtteranceStream({
      sampleRate: RATE,
      recognise: (wav, seconds) => {
        const one = recognise(wav, seconds);
        calls.at(-1)!.answer('x');
        return one;
      },
      interim: { everyS: 1, isIdle: () => true },
    });
    const longest: number[] = [];
    const second = speech(1000);
    for (let minute = 0; minute < 3; minute++) {
      const before = calls.length;
      for (let at = 0; at < 60; at++) await stream.sendFrame(second);
      longest.push(Math.max(...calls.slice(before).map(({ seconds }) => seconds)));
    }
    for (const seconds of longest) expect(seconds).toBeLessThanOrEqual(15.1);
    expect(longest.at(-1)).toBeCloseTo(longest[0]!, 0);
    await stream.cancel();
  });

  it('says how much of it is speech, once it has heard enough', async () => {
    const { calls, recognise } = recogniser();
    const stream = new UtteranceStream({ sampleRate: RATE, voiceActivity: VAD, recognise });
    await send(stream, silence(1000), speech(1000), silence(8000));
    expect(stream.speaking).toBe(1);
    await send(stream, silence(30_000));
    expect(stream.speaking).toBeGreaterThan(0);
    expect(stream.speaking).toBeLessThan(0.1);
    for (const call of calls) call.answer('x');
    await stream.cancel();
  });

  it('takes no more audio while three utterances wait', async () => {
    const { calls, recognise } = recogniser();
    const stream = new UtteranceStream({ sampleRate: RATE, recognise });
    for (let index = 0; index < 3; index++) {
      void send(stream, speech(100));
      await stream.commit();
    }
    let taken = false;
    const sent = send(stream, speech(10)).then(() => (taken = true));
    await new Promise(resolve => setImmediate(resolve));
    expect(taken).toBe(false);
    for (const call of calls) call.answer('x');
    await sent;
  });

  it('a failed request ends the stream with its error; a cancel ends it without a word', async () => {
    const { calls, recognise } = recogniser();
    const failing = new UtteranceStream({ sampleRate: RATE, recognise });
    const events = eventsOf(failing);
    await send(failing, speech(100));
    await failing.commit();
    calls[0]!.fail(new DomainError('queue_timeout', 'Waited too long.'));
    await expect(events).rejects.toThrow('Waited too long.');
    await failing.finished;

    const stopped = new UtteranceStream({ sampleRate: RATE, recognise });
    const none = eventsOf(stopped);
    await send(stopped, speech(100));
    await stopped.commit();
    await stopped.cancel();
    expect([await none, calls[1]!.cancelled]).toEqual([[], true]);
  });

  it('recognises the beginning of an utterance while the recogniser has nothing else to do', async () => {
    const { calls, recognise } = recogniser();
    let isIdle = false;
    const interim = { everyS: 0.5, isIdle: () => isIdle };
    const stream = new UtteranceStream({
      sampleRate: RATE,
      voiceActivity: VAD,
      interim,
      recognise,
    });
    const events = eventsOf(stream);
    await send(stream, silence(500), speech(1000));
    expect(calls).toEqual([]);
    isIdle = true;
    await send(stream, speech(100));
    expect(calls).toHaveLength(1);
    expect(calls[0]!.seconds).toBeGreaterThan(1);
    await send(stream, speech(600));
    expect(calls).toHaveLength(1);
    calls[0]!.answer('the beginning');
    // Enough new speech is there: the next pass waits for no frame.
    await new Promise(setImmediate);
    expect(calls).toHaveLength(2);
    await send(stream, silence(800));
    expect(calls[1]!.cancelled).toBe(true);
    calls[1]!.answer('too late');
    calls[2]!.answer('all of it');
    await stream.close();
    const texts = (await events).flatMap(event =>
      'text' in event ? [[event.type, event.text]] : [],
    );
    expect(texts).toEqual([
      ['partial', 'the beginning'],
      ['final', 'all of it'],
    ]);
  });

  it('begins no pass in silence, and marks passes as drafts in the language of the session', async () => {
    const { recognise } = recogniser();
    const drafts: unknown[] = [];
    const stream = new UtteranceStream({
      sampleRate: RATE,
      voiceActivity: VAD,
      interim: { everyS: 0.3, isIdle: () => true },
      recognise: (wav, seconds, _, draft) => {
        drafts.push(draft);
        const call = recognise(wav, seconds);
        return { ...call, transcript: Promise.resolve(transcript('x')) };
      },
    });
    await send(stream, silence(1000));
    await send(stream, speech(350));
    expect(drafts).toEqual([{ language: '' }]);
    await send(stream, silence(400));
    expect(drafts).toHaveLength(1);
    await send(stream, silence(400));
    expect(drafts.slice(1)).toEqual([undefined]);
    await send(stream, speech(350));
    expect(drafts.slice(2)).toEqual([{ language: 'en' }]);
    await stream.cancel();
  });

  it('begins a pass when the final text of the utterance before comes, and none for a caller who left', async () => {
    for (const leaves of [false, true]) {
      const { calls, recognise } = recogniser();
      let isIdle = false;
      const interim = { everyS: 0.3, isIdle: () => isIdle };
      const stream = new UtteranceStream({
        sampleRate: RATE,
        voiceActivity: VAD,
        interim,
        recognise,
      });
      await send(stream, silence(500), speech(500), silence(800), speech(500));
      isIdle = true;
      expect(calls).toHaveLength(1);
      if (leaves) await stream.cancel();
      calls[0]!.answer('the first');
      await new Promise(setImmediate);
      expect(calls).toHaveLength(leaves ? 1 : 2);
      await stream.cancel();
    }
  });

  it('an interim request that fails costs nothing', async () => {
    const { calls, recognise } = recogniser();
    const stream = new UtteranceStream({
      sampleRate: RATE,
      voiceActivity: VAD,
      recognise,
      interim: { everyS: 1, isIdle: () => true },
    });
    const events = eventsOf(stream);
    await send(stream, speech(1400));
    calls[0]!.fail(new DomainError('queue_full', 'Full.'));
    await new Promise(setImmediate);
    await send(stream, silence(800));
    calls[1]!.answer('all of it');
    await stream.close();
    expect((await events).at(-1)).toMatchObject({ type: 'final', text: 'all of it' });
  });
});

describe('VoiceLevel', () => {
  const judge = (level: (frame: Buffer) => number, amplitude: number, frames: number) => {
    let last = 0;
    for (let index = 0; index < frames; index++) last = level(pcm(32, amplitude));
    return last;
  };

  it('is sure of speech above the noise of the room, whether that is quiet or loud', () => {
    for (const noise of [0.0001, 0.01, 0.05]) {
      const level = voiceLevel();
      expect(judge(level, noise, 100)).toBeLessThan(0.1);
      expect(judge(level, noise * 10 + 0.02, 5)).toBeGreaterThan(0.9);
    }
  });

  it('takes a noise that lasts 3 s for the room', () => {
    const level = voiceLevel();
    expect(judge(level, 0.1, 10)).toBeGreaterThan(0.9);
    expect(judge(level, 0.1, 100)).toBeLessThan(0.1);
  });
});
