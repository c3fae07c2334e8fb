import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { answerHeaders, type RequestTimings } from '../http/answer-headers.js';
import {
  type HttpCaller,
  type InferenceCaller,
  type InferenceRequest,
  InferenceService,
} from '../inference/inference.service.js';
import { type EmbedTask } from '../worker-pool/worker-task.js';
import { type TextDialect, DialectForm } from './dialect.js';
import {
  type OutputForm,
  GenerationOutputStream,
  sendEvents,
} from './generation-output-stream.js';
import { piecesOf } from './generation-pieces.js';
import { affinityOf, type ParsedGeneration } from './parse-generation.js';

/**
 * What is to be generated, in the one form that scheduler, workers and engines know
 * (D-30): the body of a chat or of a completion, byte by byte. Other dialects are
 * translated to a chat before they come here.
 */
export interface Generation extends Pick<
  ParsedGeneration,
  'model' | 'task' | 'beginning'
> {
  readonly body: Buffer;
}

/** A generation that answers an HTTP request. */
export interface TextTurn extends Pick<ParsedGeneration, 'ignored'> {
  readonly caller: HttpCaller;
  readonly generation: Generation;
}

/** Between two notices to a caller that waits; no proxy cuts a connection sooner. */
const NOTICE_MS = 5000;

/** Runs generations on workers. */
@Injectable()
export class TextGenerationService {
  constructor(
    private readonly inference: InferenceService,
    private readonly settings: Settings,
  ) {}

  /**
   * @param output receives the answer while it is made; absent: the whole answer is
   *   in the reply
   */
  start(
    caller: InferenceCaller,
    { model, task, beginning, body }: Generation,
    output?: GenerationOutputStream,
  ): InferenceRequest {
    const { generationTimeoutMs: timeoutMs, generationIdleMs: idleMs } =
      this.settings.inference;
    const work = {
      model: model.id,
      affinity: affinityOf(caller.tenant, beginning),
      bytes: body.length,
      audioDurationS: 0,
      timeoutMs,
      payload: { kind: 'generate', ...task, body, ...(output && { sink: output }) },
    } as const;
    return this.inference.start(caller, work, output && { output, idleMs });
  }

  /** Vectors of texts, or scores: requests that wait together are computed together. */
  embed(caller: InferenceCaller, model: string, work: Omit<EmbedTask, 'kind'>) {
    const bytes = work.body.length;
    const payload = { kind: 'embed', ...work } as const;
    return this.inference
      .start(caller, { model, bytes, audioDurationS: 0, payload })
      .answer('embeddings');
  }

  /** Sends the whole answer. @param write what is sent of the engine's JSON */
  async answer(
    { caller, generation, ignored }: TextTurn,
    write: (answer: Buffer) => Buffer | object | Promise<Buffer | object>,
  ): Promise<void> {
    const { reply, timings } = await this.start(caller, generation).answer('generation');
    const body = await write(reply.answer);
    const known = { ...timings, usage: reply.usage };
    void caller.reply
      .headers(answerHeaders(generation.model.id, known, ignored))
      .type('application/json; charset=utf-8')
      .send(body);
  }

  /** Answers in another dialect than that of chat. @param notice as of `stream` */
  say(
    turn: TextTurn,
    dialect: TextDialect,
    isStream: boolean,
    notice?: () => Promise<string>,
  ): Promise<void> {
    if (isStream) return this.stream(turn, new DialectForm(dialect), notice);
    return this.answer(turn, answer => {
      for (const piece of piecesOf(answer)) dialect.take(piece);
      return dialect.whole();
    });
  }

  /**
   * Sends events from the first chunk on; their headers hold what is known by then.
   * @param notice what a caller is told every few seconds until then; the first one sends
   *   the status, and a failure is in the stream from then on
   */
  async stream(
    { caller, generation, ignored }: TextTurn,
    form: OutputForm,
    notice?: () => Promise<string>,
  ): Promise<void> {
    const { maxBufferedBytes } = this.settings.generation;
    const output = new GenerationOutputStream(form, maxBufferedBytes);
    const started = this.start(caller, generation, output);
    let isSent = false;
    const send = (timings: RequestTimings): void => {
      if (isSent) return;
      isSent = true;
      const headers = answerHeaders(generation.model.id, timings, ignored);
      sendEvents(caller.reply, headers, output.chunks, form.contentType);
    };
    let waits = true;
    const tell = async (): Promise<void> => {
      const frame = await notice!();
      if (!waits) return;
      send({ phases: {} });
      output.notice(frame);
    };
    const timer = notice && setInterval(() => void tell(), NOTICE_MS);
    try {
      const { phases, firstOutputMs: ttftMs } = await started.firstOutput();
      send({ phases, ttftMs });
    } catch (error) {
      if (!isSent) throw error;
    } finally {
      waits = false;
      clearInterval(timer);
    }
  }
}
