import { Readable } from 'node:stream';
import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { fieldsIn } from '@switchyard/engine-api/is-object.js';
import { isSpeech, type BatchUsage } from '../../core/jobs/batch-job.js';
import { type LineParts } from '../job/input-lines.js';
import { answerLine, errorLine } from '../job/output-line.js';
import { type JobClaim, type ResultFiles } from '../job/result-files.js';
import { type ResultRecord } from '../job/result-segments.js';
import { type Answer, isGood } from './line-reply.js';

/**
 * The audio of a speech line as JSON text: base64 if `response_encoding` is `base64`, else
 * the id of a file. @throws LeaseLost, or when a store fails
 */
async function speechJson(
  { body: bytes, contentType: content_type }: Answered,
  { claim, parts, wantsBase64, files }: Settling,
): Promise<string> {
  if (wantsBase64) return writeJson({ audio: bytes.toString('base64'), content_type });
  const name = (parseBoundedJson(parts.customIdJson) as string)
    .replace(/[^A-Za-z0-9_.-]/g, '_')
    .slice(0, 100);
  const filename = `${name}.${extensionOf(content_type)}`;
  const { id: file_id } = await files.save(claim, filename, () => Readable.from([bytes]));
  return writeJson({ file_id, bytes: bytes.length, content_type });
}

const EXTENSIONS: readonly (readonly [type: RegExp, extension: string])[] = [
  [/mpeg/, 'mp3'],
  [/wav/, 'wav'],
  [/flac/, 'flac'],
  [/opus|ogg/, 'opus'],
  [/aac/, 'aac'],
];

const extensionOf = (contentType: string): string =>
  EXTENSIONS.find(([type]) => type.test(contentType))?.[1] ?? 'bin';

/** `usage` of an answer in any of OpenAI's spellings; undefined without token counts. */
export function lineUsage(body: unknown): BatchUsage | undefined {
  const usage = fieldsIn(body).usage;
  const input = spelling(usage, 'prompt_tokens', 'input_tokens');
  const output = spelling(usage, 'completion_tokens', 'output_tokens');
  if (input.tokens === undefined && output.tokens === undefined) return undefined;
  return {
    inputTokens: input.tokens ?? 0,
    outputTokens: output.tokens ?? 0,
    cachedTokens: count(input.details, 'cached_tokens') ?? 0,
    reasoningTokens: count(output.details, 'reasoning_tokens') ?? 0,
  };
}

const spelling = (usage: unknown, one: string, other: string) => ({
  tokens: count(usage, one) ?? count(usage, other),
  details: fieldsIn(usage)[`${one}_details`] ?? fieldsIn(usage)[`${other}_details`],
});

function count(value: unknown, name: string): number | undefined {
  const found = fieldsIn(value)[name];
  return Number.isSafeInteger(found) && Number(found) >= 0 ? Number(found) : undefined;
}

type LineResult = Omit<ResultRecord, 'index'>;

interface Settling {
  readonly claim: JobClaim;
  readonly parts: LineParts;
  /** Speech: the audio is stored in the output line. */
  readonly wantsBase64: boolean;
  /** Where the audio of speech is stored. */
  readonly files: ResultFiles;
}

/** Converts the last answer of a line to its line in the output or error file (D-16). */
export function resultOf(answer: Answer, settling: Settling): LineResult | Promise<LineResult> {
  const { customIdJson } = settling.parts;
  if (answer.kind !== 'answer') return unanswered(customIdJson, codeOf(answer), answer.message);
  if (!isAudio(answer, settling)) return answered(answer, customIdJson, textBody(answer));
  return speechJson(answer, settling).then(json => answered(answer, customIdJson, { json }));
}

/** @param json text for the line */
function answered(
  answer: Answered,
  customIdJson: string,
  { json, value }: { readonly json: string; readonly value?: unknown },
): LineResult {
  const { status, requestId } = answer;
  const line = answerLine(customIdJson, status, requestId, json);
  const usage = lineUsage(value);
  return { kind: isGood(answer) ? 'O' : 'E', line, usage };
}

/** The error line of a request without an answer. */
export const unanswered = (
  customIdJson: string,
  code: string,
  message: string,
  param?: string,
): LineResult => ({
  kind: 'E',
  line: errorLine(parseBoundedJson(customIdJson) as string, { code, message, param }),
});

const codeOf = (answer: Exclude<Answer, { kind: 'answer' }>): string =>
  answer.kind === 'too_large' ? 'response_too_large' : TRANSPORT_CODES[answer.cause];

const TRANSPORT_CODES = {
  refused: 'connection_refused',
  lost: 'connection_lost',
  timeout: 'request_timeout',
} as const;

type Answered = Extract<Answer, { kind: 'answer' }>;

const isAudio = (answer: Answered, { claim: { job } }: Settling): boolean =>
  isSpeech(job) && isGood(answer) && !/json|text\//.test(answer.contentType);

/** JSON is copied unchanged; text formats such as subtitles become a JSON string, also "42". */
function textBody(answer: Answered) {
  const text = answer.body.toString();
  if (text === '') return { json: 'null' };
  if (isGood(answer) && /^text\//i.test(answer.contentType)) return { json: writeJson(text) };
  try {
    return { json: text, value: parseBoundedJson(text, STORED_BOUNDS) };
  } catch {
    return { json: writeJson(text) };
  }
}
