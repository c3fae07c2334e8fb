import { pause } from '@switchyard/engine-api/process/pause.js';
import { withJsonFields } from '../../../contracts/formats/json-fields.js';
import { type ResponseObject } from '../../../contracts/openai/responses.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type EngineName } from '../../../platform/config/model-spec.js';
import { type InferenceRequest } from '../../inference/inference.service.js';
import { type OutputForm, OutputStream } from '../../inference/output-stream.js';
import { type WorkRunOptions } from '../../stored-work/work-runs.js';
import { readAnswer } from '../../text/generation-pieces.js';
import { type GenerationPiece } from '../../text/generation-pieces.js';
import { type Generation } from '../../text/parse-generation.js';
import { type ResponseRunState } from '../stored/response-runs.js';

/** Engines that tell the tokens of an answer, and continue it from them. */
const CONTINUING: ReadonlySet<EngineName> = new Set(['llama-cpp', 'synthetic']);

/**
 * The rest of a response whose first part is durable, from the tokens of that part.
 * Undefined: they are not known, and text alone does not say how the engine came to it.
 */
function restOf(
  generation: Generation,
  { output }: ResponseObject,
  tokens: readonly number[],
): Generation | undefined {
  if (output.length > 0 && tokens.length === 0) return undefined;
  if (!CONTINUING.has(generation.model.engine)) return generation;
  const fields = {
    return_token_ids: true,
    ...(tokens.length > 0 && { continue_token_ids: tokens }),
  };
  return { ...generation, body: withJsonFields(generation.body, fields) };
}

const NEWLINES = /[\r\n]+/g;

/**
 * Chunks of an answer, one per line, for a reader in this process that may hold
 * the engine back.
 */
const LINES: OutputForm = {
  format: json => `${json.toString('utf8').replace(NEWLINES, ' ')}\n`,
  lastFrame: () => undefined,
};

/** Every piece that is read ends with a whole line. */
const chunksIn = (lines: Buffer): readonly Buffer[] =>
  lines
    .toString('utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => Buffer.from(line));

/**
 * The caller does not wait, so the response waits for a worker, or for room in the queue.
 */
const WAITED_FOR: readonly string[] = [
  'queue_timeout',
  'no_worker',
  'upstream_unavailable',
  'queue_full',
  'model_unloaded',
  // The slot of the attempt before is not free yet.
  'duplicate_request_id',
];

/** Another gateway runs it, or this one again. */
const PASSED_ON: readonly string[] = ['shutting_down', 'queue_unavailable', 'storage_unavailable'];

const CANCELLED = 'request_cancelled';

const WAIT_MS = 1000;

const LONGEST_WAIT_MS = 30_000;

/**
 * Workers lost in a row, without a token between them: after these, the request itself is
 * the likely cause.
 */
const MOST_LOSSES = 3;

/**
 * One run of a background response: every event is durable before another gateway or a
 * client can see it.
 */
export class BackgroundRun {
  #losses = 0;

  constructor(
    private readonly options: Omit<ResponseRunState, 'record'> &
      WorkRunOptions & {
        /** @throws DomainError for what the model, as it is configured now, cannot do */
        readonly generation: () => Generation;
        readonly start: (generation: Generation, output: OutputStream) => InferenceRequest;
        /** Unix milliseconds after which it no longer waits for a worker. */
        readonly giveUpAtMs: number;
      },
  ) {}

  /**
   * Resolves when the response has ended.
   * @throws DomainError when another run has to continue it, or when it
   *   was rejected early
   */
  async run(): Promise<void> {
    const { writer, events, tokens } = this.options;
    for (;;) {
      try {
        const rest = restOf(this.options.generation(), writer.response, tokens);
        if (!rest) return await this.#endWith(brokenOff());
        const last = await this.#generate(rest);
        const said = last.flatMap(piece => writer.take(piece));
        return await this.options.end([...said, ...writer.end()]);
      } catch (error) {
        if (!(error instanceof DomainError) || this.options.early()) throw error;
        await events.end([]);
        if (PASSED_ON.includes(error.code)) throw error;
        if (!(await this.#mayContinue(error))) return await this.#endWith(error);
      }
    }
  }

  /**
   * Resolves with the last pieces: text that the worker held back until the answer
   * ended. Stored tokens do not yield it again, so it has to become durable together
   * with the end.
   * @throws DomainError when the generation failed; what it said before is on its way
   *   to the database
   */
  async #generate(generation: Generation): Promise<readonly GenerationPiece[]> {
    const { start, writer, events, gone } = this.options;
    const output = new OutputStream(LINES);
    const inference = start(generation, output);
    const stop = (): void => inference.cancel('shutdown');
    gone.addEventListener('abort', stop, { once: true });
    if (gone.aborted) stop();
    let last: readonly GenerationPiece[];
    try {
      last = await this.#read(output);
    } catch (error) {
      inference.cancel('client');
      await inference.settled;
      throw error instanceof SyntaxError ? unreadable(error) : error;
    }
    const { settlement } = await inference.settled;
    if (settlement.status !== 'completed') throw settlement.error;
    if (writer.response.status === 'queued') await events.add(writer.begin());
    return last;
  }

  /** @returns the pieces at the end that no token brought */
  async #read(output: OutputStream): Promise<readonly GenerationPiece[]> {
    const { writer, events, tokens } = this.options;
    const last: GenerationPiece[] = [];
    let untold: readonly number[] = [];
    for await (const lines of output as AsyncIterable<Buffer>) {
      if (writer.response.status === 'queued') await events.add(writer.begin());
      for (const chunk of chunksIn(lines)) {
        const answer = readAnswer(chunk);
        if (answer.tokens.length === 0 && tokens.length + untold.length > 0)
          last.push(...answer.pieces);
        else untold = await this.#take(answer, untold);
      }
    }
    return last;
  }

  /** @param untold tokens before, of which no event tells yet @returns those after */
  async #take(
    { pieces, tokens }: ReturnType<typeof readAnswer>,
    untold: readonly number[],
  ): Promise<readonly number[]> {
    const { writer, events, tokens: told } = this.options;
    const now = [...untold, ...tokens];
    const made = pieces.flatMap(piece => writer.take(piece));
    if (made.length === 0) return now;
    this.#losses = 0;
    told.push(...now);
    await events.add(made, now);
    return [];
  }

  async #mayContinue({ code, retryAfterMs = WAIT_MS }: DomainError): Promise<boolean> {
    if (code === CANCELLED || Date.now() >= this.options.giveUpAtMs) return false;
    if (WAITED_FOR.includes(code)) {
      const waitMs = Math.min(Math.max(retryAfterMs, WAIT_MS), LONGEST_WAIT_MS);
      await pause(waitMs, this.options.gone);
      return true;
    }
    this.#losses += 1;
    return code === 'worker_lost' && this.#losses <= MOST_LOSSES;
  }

  #endWith(error: DomainError): Promise<void> {
    const { writer, end } = this.options;
    if (error.code === CANCELLED) return end(writer.cancel());
    return end(writer.fail(error));
  }
}

const brokenOff = (): DomainError =>
  new DomainError(
    'worker_lost',
    'The answer broke off: the gateway or worker that made it was lost, and this model cannot continue an answer.',
  );

const unreadable = (cause: Error): DomainError =>
  new DomainError('engine_failed', 'The worker sent text that cannot be read.', {
    cause,
  });
