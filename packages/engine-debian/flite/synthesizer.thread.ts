import { serveThread } from '@switchyard/engine-api/threads/serve-thread.js';
import { CancelFlag } from '@switchyard/engine-api/threads/shared-memory.js';
import { loadFlite } from './library.js';
import { FLITE_SAMPLE_RATE, FLITE_VOICE_IDS, type FliteProtocol } from './protocol.js';

/**
 * Entry of the thread that speaks; its info is what library it is. No decorators here or
 * in anything imported.
 */
void serveThread<FliteProtocol, string>(() => {
  const flite = loadFlite(FLITE_VOICE_IDS);
  // Warm-up: the first sentence of a voice pages its data in.
  for (const voice of FLITE_VOICE_IDS) flite.speak(voice, 'ready', 1);
  return {
    info: flite.revision,
    operations: {
      speak: ({ sentences, voice, speed, cancel }, notify) => {
        const flag = new CancelFlag(cancel);
        let total = 0;
        for (const sentence of sentences) {
          if (flag.raised) break;
          const { samples, sampleRate } = flite.speak(voice, sentence, 1 / speed);
          if (sampleRate !== FLITE_SAMPLE_RATE)
            throw new Error(`voice ${voice} speaks at ${sampleRate} Hz`);
          total += samples.length;
          notify(samples, [samples.buffer]);
        }
        return total;
      },
    },
    // Waves are freed one by one; voices are static in the library and go
    // with the process.
    close: () => undefined,
  };
});
