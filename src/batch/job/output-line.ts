import { timeOrderedId } from '../../platform/database/time-ordered-id.js';

/** Codes of lines that were never answered (D-15). */
export type UnansweredCode = 'batch_expired' | 'batch_cancelled' | 'batch_failed';

export const UNANSWERED: Readonly<Record<UnansweredCode, string>> = {
  batch_expired: 'This request could not be executed before the completion window expired.',
  batch_cancelled: 'This request was not executed because the batch was cancelled.',
  batch_failed: 'This request was not executed because the batch failed.',
};

export interface LineError {
  readonly customId: string | null;
  readonly code: string;
  readonly message: string;
  /** Of a line that could not be sent: what is wrong where. */
  readonly param?: string | null;
  readonly line?: number | null;
}

/** A line of the error file for one that has no answer: `response` is null (D-16). */
export function errorLine({ customId, code, message, param, line }: LineError): string {
  return JSON.stringify({
    id: requestLineId(),
    custom_id: customId,
    response: null,
    error: { code, message, ...(param === undefined ? {} : { param }), ...(line === undefined ? {} : { line }) },
  });
}

export interface AnsweredLine {
  /** JSON text of the id, as the input line has it. */
  readonly customIdJson: string;
  readonly status: number;
  readonly requestId: string;
  /** JSON text; it goes into the line as it is, digits of big numbers included. */
  readonly bodyJson: string;
}

/** A line with an answer, of either file: `error` is null, also for an answer that is an error (D-16). */
export function answerLine({ customIdJson, status, requestId, bodyJson }: AnsweredLine): string {
  const response = `{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":${onOneLine(bodyJson)}}`;
  return `{"id":"${requestLineId()}","custom_id":${customIdJson},"response":${response},"error":null}`;
}

const requestLineId = (): string => timeOrderedId('batch_req_', Date.now());

/** Line breaks in valid JSON are blanks between its parts, never inside a string. */
const onOneLine = (json: string): string => (/[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, ' ') : json);
