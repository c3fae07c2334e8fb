import { writeFileSync, readFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EngineThread, threadEntry } from '@switchyard/engine-api/threads/engine-thread.js';
import { CancelFlag } from '@switchyard/engine-api/threads/shared-memory.js';
import { temporaryFolder } from '../../test/support/temporary-folder.js';
import { type SpeechThread } from './protocol.js';
import { stoppableVoice } from './stoppable-voice.js';
import { VoiceStop } from './voice-stop.js';

const FOLDER = 'test/fixtures/sherpa/vits';
const MODEL = join(FOLDER, 'model.onnx');

const opened = (model: string): EngineThread<SpeechThread> => {
  const files = { tokens: join(FOLDER, 'tokens.txt'), lexicon: join(FOLDER, 'lexicon.txt') };
  return new EngineThread(threadEntry('./synthesizer.thread.js', import.meta.url), 'voice', {
    config: { model: { vits: { ...files, dataDir: '', model }, numThreads: 1, provider: 'cpu' } },
  });
};

async function spoken(thread: EngineThread<SpeechThread>): Promise<Int16Array> {
  let pcm: Int16Array = new Int16Array();
  const sentences = ['the train leaves at seven'];
  const cancel = new CancelFlag().memory;
  const request = { sentences, speaker: 0, speed: 1, cancel };
  await thread.call('speak', request, { onNotice: said => (pcm = said) });
  return pcm;
}

describe('a voice that can be ended while it computes', () => {
  let stop: VoiceStop;
  let thread: EngineThread<SpeechThread>;
  let whole: Int16Array;

  beforeAll(async () => {
    const published = opened(MODEL);
    whole = await spoken(published);
    await published.close();
    const model = join(temporaryFolder(), 'model.onnx');
    writeFileSync(model, Buffer.concat(stoppableVoice(MODEL, readFileSync(MODEL))));
    stop = await VoiceStop.beside(model);
    thread = opened(stop.path);
    await thread.ready;
    stop.loaded();
  });
  afterAll(async () => {
    await thread.close();
    stop.close();
  });

  const during = (signal: AbortSignal, meanwhile = (): void => undefined) =>
    stop.during(signal, () => {
      meanwhile();
      return spoken(thread);
    });

  it('says what the published one says, to the sample, and leaves no file', async () => {
    expect(await during(new AbortController().signal)).toEqual(whole);
    expect(existsSync(dirname(stop.path))).toBe(false);
  });

  it('ends a run in the middle when its caller has left, and no other', async () => {
    const caller = new AbortController();
    const left = during(caller.signal, () => caller.abort());
    const after = during(new AbortController().signal);
    expect((await left).length).toBeLessThan(whole.length / 100);
    expect(await after).toEqual(whole);
    caller.abort();
    expect(await during(new AbortController().signal)).toEqual(whole);
  });

  it('ends a run at once whose caller has left while it waited for another', async () => {
    const caller = new AbortController();
    const before = during(new AbortController().signal);
    const left = during(caller.signal);
    caller.abort();
    expect(await before).toEqual(whole);
    expect((await left).length).toBeLessThan(whole.length / 100);
    expect(await during(new AbortController().signal)).toEqual(whole);
  });

  it('ends what runs and all that follows when the engine closes', async () => {
    stop.end();
    expect((await during(new AbortController().signal)).length).toBeLessThan(whole.length / 100);
  });
});
