import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { compressionRatio } from '../../../contracts/formats/compression-ratio.js';
import { type RecognizedSegment } from '../speech-recognizer.js';
import { CancelFlag } from '../threads/thread-protocol.js';
import { readWhisperFolder } from './model-files.js';
import { JobRun, withinAudio } from './transcription-job.js';
import { WhisperVocabulary } from './vocabulary.js';

const modelDir = fileURLToPath(new URL('../../../../test/fixtures/whisper/random', import.meta.url));
const dtype = { encoder: 'fp32', decoder: 'fp32' } as const;
const vocabulary = new WhisperVocabulary(
  readWhisperFolder({ modelDir, dtype, maxBatch: 1, memoryMb: 0, device: 'cpu' }),
);
const at = (position: number) => vocabulary.firstTime + position;
const [red, green, blue] = ['red', 'green', 'blue'].map(word => vocabulary.encode(` ${word}`)[0]!) as [
  number,
  number,
  number,
];

/** A window of 2 s, 100 positions, of audio that is `seconds` long. */
function run(seconds: number) {
  const segments: RecognizedSegment[] = [];
  const frames = seconds * 100;
  const request = {
    ...{ requestId: 'r', task: 'transcribe' as const, language: 'en', prompt: '', hotWords: [], temperature: 0 },
    mel: { mels: 80, frames, contentFrames: frames, values: new Float32Array(0) },
    ...{ durationS: seconds, wordTimestamps: false, logprobs: false, cancel: new CancelFlag().memory },
  };
  const rules = { vocabulary, windowFrames: 200, positions: 64, conditionOnPreviousText: true };
  const job = new JobRun(request, 0, rules, segment => segments.push(segment));
  const accept = (...tokens: number[]) => {
    const text = vocabulary.decode(tokens);
    job.accept(
      { tokens, logprobs: tokens.map(() => -0.1), text, temperature: 0, avgLogprob: -0.1, noSpeechProb: 0 },
      [],
    );
    return text.trim();
  };
  return { job, accept, segments };
}

const told = (segments: readonly RecognizedSegment[]) => segments.map(({ start, end, text }) => [start, end, text]);

describe('JobRun', () => {
  it('gives text at times beyond the end to the segment before, with its own length', () => {
    const { job, accept, segments } = run(1);
    accept(at(0), red, at(30), at(30), green, at(40), at(70), blue, at(90));
    expect(told(segments)).toEqual([
      [0, 0.6, 'red'],
      [0.6, 1, 'green blue'],
    ]);
    expect(job.transcript().text).toBe('red green blue');
  });

  it('gives the whole window to text whose only times are beyond the end', () => {
    const { accept, segments } = run(0.5);
    accept(at(60), red, at(80));
    expect(told(segments)).toEqual([[0, 0.5, 'red']]);
  });

  it('leaves tokens of segments without text or length out of the next prompt', () => {
    const { job, accept, segments } = run(4);
    accept(at(0), red, at(30), at(30), at(40), at(40), green, at(60), at(60));
    const kept = [at(0), red, at(30), at(40), green, at(60)];
    expect(segments.map(({ text }) => text)).toEqual(['red', 'green']);
    expect(job.prompt().slice(1, -3)).toEqual(kept);
  });

  it('gives every segment the compression ratio of its window', () => {
    const { accept, segments } = run(2);
    const text = accept(at(0), red, red, at(30), at(30), red, at(60));
    expect(segments.map(one => one.compressionRatio)).toEqual(Array(2).fill(compressionRatio(text)));
  });
});

describe('withinAudio', () => {
  it('leaves times inside the audio alone, and ends the last segment with the audio', () => {
    const segments = [
      { from: 0, to: 10, first: 0, end: 3 },
      { from: 12, to: 60, first: 3, end: 6 },
    ];
    expect(withinAudio(segments, 60)).toEqual(segments);
    expect(withinAudio(segments, 50)).toEqual([segments[0], { ...segments[1], to: 50 }]);
  });
});
