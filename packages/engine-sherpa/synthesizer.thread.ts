import { serveThread } from '@switchyard/engine-api/threads/remote-calls.js';
import { CancelFlag } from '@switchyard/engine-api/threads/shared-memory.js';
import { loadSherpa } from './library.js';
import { type SpeechThread } from './protocol.js';

/**
 * Entry of the thread that holds one speech model. No decorators here or
 * in anything imported.
 */
void serveThread<SpeechThread>(async ({ config }) => {
  const sherpa = loadSherpa();
  const tts = await sherpa.OfflineTts.createAsync(config);
  return {
    info: { sampleRate: tts.sampleRate, speakers: Math.max(1, tts.numSpeakers) },
    operations: {
      // Sentence by sentence ourselves: a refusal from the package's own chunk callback
      // comes too late, the rest is spoken all the same.
      speak: ({ sentences, speaker, speed, cancel }, emit) => {
        const flag = new CancelFlag(cancel);
        let total = 0;
        for (const text of sentences) {
          if (flag.raised) break;
          const { samples } = tts.generate({
            text,
            sid: speaker,
            speed,
            enableExternalBuffer: false,
          });
          total += samples.length;
          const pcm = toPcm(samples);
          emit(pcm, [pcm.buffer]);
        }
        return total;
      },
    },
    close: () => undefined,
  };
});

const toPcm = (samples: Float32Array): Int16Array<ArrayBuffer> =>
  Int16Array.from(samples, sample => Math.round(Math.max(-1, Math.min(1, sample)) * 32_767));
