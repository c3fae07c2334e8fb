import { SSE_CONTENT_TYPE } from './server-sent-event.js';
import { formatSrt, formatVtt } from './subtitles.js';
import { formatTranscriptStream, logprobBody } from './transcript-events.js';
import { type Transcript } from '@switchyard/engine-api/speech-recognizer.js';
import { durationUsage } from './usage.js';
import {
  formatDiarizedJson,
  formatVerboseJson,
  type VerboseOptions,
} from './transcript-json.js';

export const TRANSCRIPT_FORMATS = [
  'json',
  'text',
  'srt',
  'verbose_json',
  'vtt',
  'diarized_json',
] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

export interface TranscriptBodyOptions extends VerboseOptions {
  readonly format: TranscriptFormat;
  readonly stream: boolean;
}

export interface TranscriptBody {
  readonly contentType: string;
  readonly body: string;
}

const PLAIN = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

/** The HTTP answer of a transcription or translation in the format asked for. */
export function transcriptBody(
  transcript: Transcript,
  options: TranscriptBodyOptions,
): TranscriptBody {
  if (options.stream) {
    const body = formatTranscriptStream(transcript, {
      diarized: options.format === 'diarized_json',
    });
    return { contentType: SSE_CONTENT_TYPE, body };
  }
  switch (options.format) {
    case 'json':
      return { contentType: JSON_TYPE, body: JSON.stringify(formatJson(transcript)) };
    case 'verbose_json':
      return {
        contentType: JSON_TYPE,
        body: JSON.stringify(formatVerboseJson(transcript, options)),
      };
    case 'diarized_json':
      return {
        contentType: JSON_TYPE,
        body: JSON.stringify(formatDiarizedJson(transcript, options)),
      };
    case 'text':
      return { contentType: PLAIN, body: `${transcript.text}\n` };
    case 'srt':
      return { contentType: PLAIN, body: formatSrt(transcript) };
    case 'vtt':
      return { contentType: PLAIN, body: formatVtt(transcript) };
  }
}

const formatJson = ({ text, logprobs, durationS }: Transcript): object => ({
  text,
  ...(logprobs && { logprobs: logprobs.map(logprobBody) }),
  usage: durationUsage(durationS),
});
