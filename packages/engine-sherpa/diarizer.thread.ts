import { serveThread } from '@switchyard/engine-api/threads/remote-calls.js';
import { loadSherpa, toFloats } from './library.js';
import { type DiarizerThread, type NamedTurn } from './protocol.js';
import { nameSpeakers } from './speaker-turns.js';

type SpeakerTurn = Omit<NamedTurn, 'speaker'> & { readonly speaker: number };

const RATE = 16_000;
/** Samples of one voice that are used for its print; more only takes longer. */
const LONGEST_PRINT = 30 * RATE;

/**
 * Entry of the thread that tells speakers apart. No decorators here or
 * in anything imported.
 */
void serveThread<DiarizerThread>(({ config, embedding, leastLikeness }) => {
  const sherpa = loadSherpa();
  const diarization = new sherpa.OfflineSpeakerDiarization(config);
  const extractor = new sherpa.SpeakerEmbeddingExtractor(embedding);
  /** Zeros, which match no speaker, for audio too short for the model. */
  const printOf = (samples: Float32Array): Float32Array => {
    const stream = extractor.createStream();
    stream.acceptWaveform({ sampleRate: RATE, samples });
    stream.inputFinished();
    return extractor.isReady(stream) ? extractor.compute(stream, false) : new Float32Array(0);
  };
  return {
    info: undefined,
    operations: {
      diarize: ({ samples, known }) => {
        const audio = toFloats(samples);
        const turns = inOrderOfAppearance(diarization.process(audio));
        const count = Math.max(0, ...turns.map(({ speaker }) => speaker + 1));
        const voices = Array.from({ length: count }, (_, i) => printOf(voiceOf(audio, turns, i)));
        const prints = known.map(voice => ({
          name: voice.name,
          embedding: printOf(toFloats(voice.samples)),
        }));
        const names = nameSpeakers(voices, prints, leastLikeness);
        return turns.map(({ start, end, speaker }) => ({
          start,
          end,
          speaker: names[speaker] ?? '',
        }));
      },
    },
    close: () => undefined,
  };
});

/** Numbers the speakers by their first turn; clusters are numbered in any order. */
function inOrderOfAppearance(turns: readonly SpeakerTurn[]): SpeakerTurn[] {
  const numbers = new Map<number, number>();
  return [...turns]
    .sort((a, b) => a.start - b.start)
    .map(turn => {
      const speaker = numbers.get(turn.speaker) ?? numbers.size;
      numbers.set(turn.speaker, speaker);
      return { ...turn, speaker };
    });
}

function voiceOf(
  audio: Float32Array,
  turns: readonly SpeakerTurn[],
  speaker: number,
): Float32Array {
  const voice = new Float32Array(LONGEST_PRINT);
  let length = 0;
  for (const turn of turns) {
    if (turn.speaker !== speaker || length === LONGEST_PRINT) continue;
    const from = Math.round(turn.start * RATE);
    const part = audio.subarray(
      from,
      Math.min(Math.round(turn.end * RATE), from + LONGEST_PRINT - length),
    );
    voice.set(part, length);
    length += part.length;
  }
  return voice.subarray(0, length);
}
