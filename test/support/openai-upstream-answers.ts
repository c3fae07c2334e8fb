const SPEECH_RATE = 24_000;
/** Odd, so that samples are cut in two. */
const PART_BYTES = 9601;

export interface TranscriptRequest {
  readonly form: FormData;
  readonly translated: boolean;
}

/**
 * "I heard CONTENT" within one second, in the format that was asked for, as
 * OpenAI writes it.
 */
export function transcriptOf(
  content: string,
  { form, translated }: TranscriptRequest,
): Record<string, unknown> {
  const text = `${translated ? 'it means' : 'I heard'} ${content}`;
  const words = text.split(' ');
  const usage = { type: 'duration', seconds: 2 };
  if (form.get('response_format') === 'json') {
    if (!form.getAll('include[]').includes('logprobs')) return { text, usage };
    const tokens = words.map((word, i) => (i === 0 ? word : ` ${word}`));
    return {
      text,
      logprobs: tokens.map(token => ({
        token,
        logprob: -0.5,
        bytes: [...Buffer.from(token)],
      })),
      usage,
    };
  }
  if (form.get('response_format') === 'diarized_json') {
    const [speaker = 'A'] = form.getAll('known_speaker_names[]');
    const type = 'transcript.text.segment';
    const segments = [{ type, id: 'seg_001', start: 0, end: 1, text, speaker }];
    return { task: 'transcribe', duration: 1.5, text, segments, usage };
  }
  const each = 1 / words.length;
  return {
    task: translated ? 'translate' : 'transcribe',
    language: 'english',
    duration: '1.50',
    text: ` ${text}`,
    segments: [
      {
        id: 0,
        seek: 0,
        start: 0,
        end: 1,
        text: ` ${text}`,
        tokens: [1],
        avg_logprob: -0.25,
        no_speech_prob: 0.01,
      },
    ],
    ...(form.getAll('timestamp_granularities[]').includes('word') && {
      words: words.map((word, i) => ({ word, start: i * each, end: (i + 1) * each })),
    }),
  };
}

/** A tone of 15 characters per second. */
export function* speechOf({ input, speed = 1 }: Record<string, unknown>): Generator<Buffer> {
  const samples = Math.ceil((SPEECH_RATE * String(input).length) / 15 / Number(speed));
  const all = Buffer.alloc(samples * 2);
  for (let i = 0; i < samples; i++) all.writeInt16LE(Math.round(8000 * Math.sin(i / 8)), i * 2);
  for (let at = 0; at < all.length; at += PART_BYTES) yield all.subarray(at, at + PART_BYTES);
}
