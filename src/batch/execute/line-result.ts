import { type Maker } from '../finalize/result-files.js';
import { isSpeech, type LineParts } from './line-request.js';
import { type Answer } from './line-answer.js';
import { isGood } from './line-verdict.js';
import { answerLine, errorLine } from './output-line.js';
import { type ResultRecord } from './result-record.js';
import { type SpeechAnswer } from './speech-answer.js';
import { usageOf } from './token-usage.js';

export type LineResult = Omit<ResultRecord, 'index'>;

export interface Settling {
  readonly maker: Maker;
  readonly parts: LineParts;
  readonly wantsBase64: boolean;
  readonly speech: SpeechAnswer;
}

/** Last answer of a line → its line in the output or error file (D-16). */
export function resultOf(answer: Answer, settling: Settling): LineResult | Promise<LineResult> {
  const { customIdJson } = settling.parts;
  if (answer.kind !== 'answer') return unanswered(customIdJson, codeOf(answer), answer.message);
  if (!isAudio(answer, settling)) return answered(answer, customIdJson, textBody(answer));
  return audioBody(answer, settling).then(body => answered(answer, customIdJson, body));
}

function answered(answer: Answered, customIdJson: string, body: Body): LineResult {
  const { status, requestId } = answer;
  const line = answerLine({ customIdJson, status, requestId, bodyJson: body.json });
  const usage = usageOf(body.value);
  return { kind: isGood(answer) ? 'O' : 'E', line, ...(usage ? { usage } : {}) };
}

/** Of a line without an answer. */
export const unanswered = (customIdJson: string, code: string, message: string, param?: string): LineResult => ({
  kind: 'E',
  line: errorLine({
    customId: JSON.parse(customIdJson) as string,
    code,
    message,
    ...(param === undefined ? {} : { param }),
  }),
});

const codeOf = (answer: Exclude<Answer, { kind: 'answer' }>): string =>
  answer.kind === 'too_large' ? 'response_too_large' : TRANSPORT_CODES[answer.cause];

const TRANSPORT_CODES = { refused: 'connection_refused', lost: 'connection_lost', timeout: 'request_timeout' } as const;

interface Body {
  /** JSON text for the line. */
  readonly json: string;
  readonly value?: unknown;
}

type Answered = Extract<Answer, { kind: 'answer' }>;

const isAudio = (answer: Answered, { maker: { job } }: Settling): boolean =>
  isSpeech(job) && isGood(answer) && !/json|text\//.test(answer.contentType);

async function audioBody({ body: bytes, contentType }: Answered, settling: Settling): Promise<Body> {
  const { maker, speech, wantsBase64, parts } = settling;
  const name = (JSON.parse(parts.customIdJson) as string).replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 100);
  return { json: await speech.bodyJson(maker, { bytes, contentType, base64: wantsBase64, name }) };
}

/** JSON goes on as it came; text formats such as subtitles become a JSON string. */
function textBody({ body }: Answered): Body {
  const text = body.toString();
  if (text === '') return { json: 'null' };
  try {
    return { json: text, value: JSON.parse(text) as unknown };
  } catch {
    return { json: JSON.stringify(text) };
  }
}
