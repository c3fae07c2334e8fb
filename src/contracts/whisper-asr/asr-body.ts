import { formatSrt, formatVtt } from '../formats/subtitles.js';
import { formatVerboseJson } from '../formats/transcript-json.js';
import {
  type Transcript,
  type TranscriptTask,
} from '@switchyard/engine-api/transcript.js';
import { type AsrOutput } from './asr.dto.js';

interface AsrBodyOptions {
  readonly output: AsrOutput;
  readonly task: TranscriptTask;
  readonly words: boolean;
}

/**
 * The answer of whisper-asr-webservice, whose media type is text/plain whatever
 * the output is.
 */
export function asrBody(
  transcript: Transcript,
  { output, task, words }: AsrBodyOptions,
): string {
  switch (output) {
    case 'txt':
      return `${transcript.segments.map(({ text }) => text.trim()).join('\n')}\n`;
    case 'srt':
      return formatSrt(transcript);
    case 'vtt':
      return formatVtt(transcript);
    case 'tsv':
      return tsv(transcript);
    case 'json': {
      const granularities = words
        ? (['segment', 'word'] as const)
        : (['segment'] as const);
      const {
        text,
        segments,
        words: told,
      } = formatVerboseJson(transcript, { task, granularities });
      return JSON.stringify({
        text,
        segments,
        ...(told && { words: told }),
        language: transcript.language,
      });
    }
  }
}

/** Milliseconds, and a text without the separator. */
function tsv({ segments }: Transcript): string {
  const rows = segments.map(({ start, end, text }) =>
    [
      Math.round(start * 1000),
      Math.round(end * 1000),
      text.trim().replaceAll(/[\t\r\n]/g, ' '),
    ].join('\t'),
  );
  return `${['start\tend\ttext', ...rows].join('\n')}\n`;
}
