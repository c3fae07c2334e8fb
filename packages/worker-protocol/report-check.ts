import { type ModelKind } from '@switchyard/engine-api/engine.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type WorkerHealthReport } from './health.codec.js';
import { maxMessageBytes as largestMessageBytes } from './message-size.js';

/**
 * More than any device serves: a slot that a worker does not have is a request that waits
 * there, out of reach of priority. Named as in proto/switchyard/v1/common.proto.
 */
const RANGES = [
  ['maxBatch', 'max_batch', 1, 4096],
  ['maxConcurrent', 'max_concurrent', 1, 4096],
  ['streams', 'streams', 0, 65_536],
  ['overdraft', 'overdraft', 0, 4096],
] as const;

/** Request credits in all, `max_batch × (max_concurrent + 1)`. */
const MAX_SLOTS = 65_536;
/** Texts of a report are shown to operators and kept for each worker. */
const MAX_CHARACTERS = 1024;
const MAX_LIST = 1000;

/** The id and kind that the gateway serves. */
interface ServedModel {
  readonly id: string;
  readonly kind: ModelKind;
}

/**
 * Why a worker that reports this gets no work: the field, its value, and what it should
 * be. Undefined: nothing is wrong.
 * @param maxMessageBytes of the largest message that is sent, and that an answer may have
 */
export function reportProblem(
  report: WorkerHealthReport,
  model: ServedModel,
  maxMessageBytes: number,
): string | undefined {
  // Its other numbers hold once its engine has loaded; until then it gets no work anyway.
  return (
    identityProblem(report, model) ??
    sizeProblem(report) ??
    (isUp(report) ? limitProblem(report, maxMessageBytes) : undefined)
  );
}

/** For speech synthesis: the longest text in any alphabet. */
const SPEECH_BYTES = 1_048_576;

/** The largest message that a worker of that kind is sent. */
export const neededMessageBytes = (kind: ModelKind, uploadLimitBytes: number): number =>
  kind === 'tts' ? SPEECH_BYTES : largestMessageBytes(uploadLimitBytes);

/**
 * An engine that passes requests to another server has nothing to load: it starts while
 * that cannot be reached.
 */
export const isUpstreamAway = ({ engine, state }: WorkerHealthReport): boolean =>
  engine === 'openai-http' && state === 'starting';

/** Undefined: it takes work. */
export function whyNotReady(report: WorkerHealthReport): string | undefined {
  if (isUpstreamAway(report)) return 'its upstream cannot be reached';
  return isUp(report) ? undefined : `its Health reports that it is ${report.state}`;
}

const isUp = ({ state }: WorkerHealthReport) => state === 'ready';

function identityProblem(
  { model, kind }: WorkerHealthReport,
  expected: ServedModel,
): string | undefined {
  if (model !== expected.id) return wrong('model', shown(model), shown(expected.id));
  if (kind !== expected.kind) return wrong('kind', shown(kind), shown(expected.kind));
  return undefined;
}

function sizeProblem({
  engine,
  device,
  revision,
  capabilities,
  languages,
}: WorkerHealthReport): string | undefined {
  for (const [field, text] of Object.entries({ engine, device, revision }))
    if (text.length > MAX_CHARACTERS)
      return wrong(field, `a text of ${text.length} characters`, `at most ${MAX_CHARACTERS}`);
  for (const [field, list] of Object.entries({ capabilities, languages }))
    if (list.length > MAX_LIST)
      return wrong(field, `${list.length} entries`, `at most ${MAX_LIST}`);
  return undefined;
}

function limitProblem(report: WorkerHealthReport, maxMessageBytes: number): string | undefined {
  for (const [name, field, min, max] of RANGES) {
    const value = report[name] ?? 0;
    if (value < min || value > max) return wrong(field, String(value), `from ${min} to ${max}`);
  }
  const slots = report.maxBatch * (report.maxConcurrent + 1);
  if (slots > MAX_SLOTS)
    return wrong('max_batch × (max_concurrent + 1)', String(slots), `at most ${MAX_SLOTS}`);
  if (report.maxMessageBytes >= maxMessageBytes) return undefined;
  return wrong('max_message_bytes', String(report.maxMessageBytes), `at least ${maxMessageBytes}`);
}

const wrong = (field: string, value: string, allowed: string) =>
  `its Health reports ${field} ${value}; it must be ${allowed}`;

const shown = (text: string) => writeJson(text.length > 100 ? `${text.slice(0, 100)}…` : text);
