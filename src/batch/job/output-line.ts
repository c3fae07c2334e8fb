import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type JobProblem } from '../../core/jobs/batch-job.js';
import { timeOrderedId } from '../../platform/clock/time-ordered-id.js';

/**
 * Error line of a request without an answer: `response` is null (D-16). Of an invalid line
 * with the field and the line number.
 */
export function errorLine(
  customId: string | null,
  { code, message, param, line }: Partial<JobProblem>,
): string {
  return writeJson({
    id: requestLineId(),
    custom_id: customId,
    response: null,
    error: { code, message, param, line },
  });
}

/**
 * Line of an answered request, in either file. `error` is null, also if the answer is
 * an error (D-16).
 * @param customIdJson JSON text of the id, copied from the input line
 * @param bodyJson JSON text, copied unchanged: big numbers keep their digits
 */
export function answerLine(
  customIdJson: string,
  status: number,
  requestId: string,
  bodyJson: string,
): string {
  const response = `{"status_code":${status},"request_id":${writeJson(requestId)},"body":${onOneLine(bodyJson)}}`;
  return `{"id":"${requestLineId()}","custom_id":${customIdJson},"response":${response},"error":null}`;
}

const requestLineId = (): string => timeOrderedId('batch_req_', Date.now());

/** In valid JSON a line break is whitespace between tokens, never part of a string. */
const onOneLine = (json: string): string =>
  /[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, ' ') : json;
