const SPEECH_RATE = 24_000;
/** Odd, so that samples are cut in two. */
const PART_BYTES = 9601;

export interface TranscriptRequest {
  readonly form: FormData;
  readonly translated: boolean;
}

/** "I heard CONTENT" within one second, in the format that was asked for, as OpenAI writes it. */
export function transcriptOf(content: string, { form, translated }: TranscriptRequest): Record<string, unknown> {
  const text = `${translated ? 'it means' : 'I heard'} ${content}`;
  if (form.get('response_format') === 'json') return { text, usage: { type: 'duration', seconds: 2 } };
  const words = text.split(' ');
  const each = 1 / words.length;
  return {
    task: translated ? 'translate' : 'transcribe',
    language: 'english',
    duration: '1.50',
    text: ` ${text}`,
    segments: [
      { id: 0, seek: 0, start: 0, end: 1, text: ` ${text}`, tokens: [1], avg_logprob: -0.25, no_speech_prob: 0.01 },
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
