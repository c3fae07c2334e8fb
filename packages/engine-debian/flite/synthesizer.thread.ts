import { readFileSync } from 'node:fs';
import { serveThread } from '@switchyard/engine-api/threads/remote-calls.js';
import { CancelFlag } from '@switchyard/engine-api/threads/shared-memory.js';
import koffi, { type LibraryHandle } from 'koffi';
import { openNativeLibrary } from '../threads/native-library.js';
import { FLITE_SAMPLE_RATE, FLITE_VOICES, type FliteThread } from './protocol.js';

type Pointer = unknown;
type VoiceId = (typeof FLITE_VOICES)[number]['id'];

const VOICE = koffi.struct({ name: 'const char*', features: 'void*' });
const WAVE = koffi.struct({
  type: 'const char*',
  sample_rate: 'int',
  num_samples: 'int',
  num_channels: 'int',
  samples: 'void*',
});
const DEBIAN_PACKAGES = ['libflite1'];
const STRETCH = 'duration_stretch';

/**
 * Loads libflite.so.1 and its voices. One thread per process: voices are static data
 * that all callers share, and stay registered until the process ends.
 */
function loadFlite() {
  const flite = openNativeLibrary('libflite.so.1', DEBIAN_PACKAGES);
  flite.func('int flite_init()')();
  const registered = new Map(FLITE_VOICES.map(({ id }) => [id, registerVoice(id)]));
  const textToWave = flite.func('void* flite_text_to_wave(const char*, void*)');
  const deleteWave = flite.func('void delete_wave(void*)');
  const setStretch = stretchSetter(flite);
  // Excitation noise comes from libc's one generator: seeded, a text sounds the same
  // whatever was said before.
  const seedNoise = openNativeLibrary('libc.so.6', ['libc6']).func('void srand(unsigned int)');
  return {
    /** File that was loaded, such as "libflite.so.2.2". */
    revision: loadedFile('libflite.so'),
    /** @param stretch 1: the voice's own pace; 2: half as fast. */
    speak: (id: VoiceId, text: string, stretch: number) => {
      const voice = registered.get(id);
      setStretch(voice, stretch);
      seedNoise(1);
      const wave: Pointer = textToWave(text, voice);
      if (wave === null) throw new Error('flite made no audio');
      try {
        return copyWave(wave);
      } finally {
        deleteWave(wave);
      }
    },
  };
}

/** Mono s16 speech, copied out of native memory. */
function copyWave(wave: Pointer) {
  const fields = koffi.decode(wave, WAVE) as {
    sample_rate: number;
    num_samples: number;
    samples: Pointer;
  };
  const samples = koffi.decode(
    fields.samples,
    koffi.array('int16', fields.num_samples, 'Typed'),
  ) as Int16Array;
  return { sampleRate: fields.sample_rate, samples: Int16Array.from(samples) };
}

/**
 * flite keeps the pointer of a feature's name when it is new to the voice: the first time
 * it gets a copy in native memory that is never freed (17 bytes per voice and process),
 * later only the value changes.
 */
function stretchSetter(flite: LibraryHandle): (voice: Pointer, stretch: number) => void {
  const isPresent = flite.func('int feat_present(void*, const char*)');
  const duplicate = flite.func('void* cst_strdup(const char*)');
  const setFloat = flite.func('feat_set_float', 'void', ['void*', 'void*', 'float']);
  return (voice, stretch) => {
    const { features } = koffi.decode(voice, VOICE) as { features: Pointer };
    const key: unknown =
      isPresent(features, STRETCH) === 1 ? Buffer.from(`${STRETCH}\0`) : duplicate(STRETCH);
    setFloat(features, key, stretch);
  };
}

function registerVoice(id: VoiceId): Pointer {
  const library = openNativeLibrary(`libflite_cmu_us_${id}.so.1`, DEBIAN_PACKAGES);
  const voice: Pointer = library.func(`void* register_cmu_us_${id}(const char*)`)(null);
  if (voice === null) throw new Error(`flite cannot register its voice ${id}`);
  return voice;
}

/** The file behind a loaded library, with its full version. */
function loadedFile(prefix: string): string {
  const escaped = prefix.replaceAll('.', '\\.');
  const path = new RegExp(`/(${escaped}\\S*)`).exec(readFileSync('/proc/self/maps', 'utf8'));
  return path?.[1] ?? prefix;
}

/**
 * Entry of the thread that speaks; its info is what library it is. No decorators here or
 * in anything imported.
 */
void serveThread<FliteThread>(() => {
  const flite = loadFlite();
  // Warm-up: the first sentence of a voice pages its data in.
  for (const { id } of FLITE_VOICES) flite.speak(id, 'ready', 1);
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
