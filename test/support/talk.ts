/** Models of speakers, made up (test/fixtures/sherpa): a voice is a pitch. */
export const DIARIZATION = {
  segmentationModel: 'test/fixtures/sherpa/diarization/segmentation.onnx',
  embeddingModel: 'test/fixtures/sherpa/diarization/embedding.onnx',
};

export const TALK_RATE = 16_000;

/** A voice of those models: one pitch, four syllables a second. */
export const voice = (hertz: number, seconds: number): Buffer =>
  Buffer.from(
    Int16Array.from({ length: seconds * TALK_RATE }, (_, i) =>
      i % 4000 > 3200 ? 0 : 9000 * Math.sin((2 * Math.PI * hertz * i) / TALK_RATE),
    ).buffer,
  );

/** One second. */
export const talkPause = Buffer.alloc(2 * TALK_RATE);

/** Eleven seconds: the low voice, the high one at 4 to 7 s, the low one again. */
export const TALK = Buffer.concat([
  voice(450, 3),
  talkPause,
  voice(2600, 3),
  talkPause,
  voice(450, 3),
]);

/** Who speaks in TALK, or in TALK and a pause over and over. */
export const speakerAt = (second: number, high = 'B'): string =>
  second % 12 >= 3.5 && second % 12 < 7.5 ? high : 'A';
