import { timeOrderedId } from '../../platform/clock/time-ordered-id.js';

/** Codes of lines without an answer (D-15). */
export type UnansweredCode = 'batch_expired' | 'batch_cancelled' | 'batch_failed';

export const UNANSWERED: Readonly<Record<UnansweredCode, string>> = {
  batch_expired:
    'This request could not be executed before the completion window expired.',
  batch_cancelled: 'This request was not executed because the batch was cancelled.',
  batch_failed: 'This request was not executed because the batch failed.',
};

interface LineError {
  readonly customId: string | null;
  readonly code: string;
  readonly message: string;
  /** Of an invalid line: the field and the line number. */
  readonly param?: string | null;
  readonly line?: number | null;
}

/** Error line of a request without an answer: `response` is null (D-16). */
export function errorLine({ customId, code, message, param, line }: LineError): string {
  return JSON.stringify({
    id: requestLineId(),
    custom_id: customId,
    response: null,
    error: { code, message, param, line },
  });
}

interface AnsweredLine {
  /** JSON text of the id, copied from the input line. */
  readonly customIdJson: string;
  readonly status: number;
  readonly requestId: string;
  /** JSON text, copied unchanged: big numbers keep their digits. */
  readonly bodyJson: string;
}

/**
 * Line of an answered request, in either file. `error` is null, also if the answer is
 * an error (D-16).
 */
export function answerLine({
  customIdJson,
  status,
  requestId,
  bodyJson,
}: AnsweredLine): string {
  const response = `{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":${onOneLine(bodyJson)}}`;
  return `{"id":"${requestLineId()}","custom_id":${customIdJson},"response":${response},"error":null}`;
}

const requestLineId = (): string => timeOrderedId('batch_req_', Date.now());

/** In valid JSON a line break is whitespace between tokens, never part of a string. */
const onOneLine = (json: string): string =>
  /[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, ' ') : json;
