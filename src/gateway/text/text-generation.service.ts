import { Injectable } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { Settings } from '../../platform/config/settings.js';
import { type EmbedTask } from '../../worker-client/worker-task.js';
import {
  type HttpCaller,
  type InferenceCaller,
  type InferenceRequest,
  InferenceService,
} from '../inference/inference.service.js';
import { type OutputForm, OutputStream, sendEvents } from '../inference/output-stream.js';
import { answerHeaders, type RequestTimings } from '../latency/answer-headers.js';
import { piecesOf, type GenerationPiece } from './generation-pieces.js';
import { affinityOf, type Generation } from './parse-generation.js';

/** Another dialect than that of chat: the pieces of one generation as its events. */
export interface TextDialect<E = object> {
  readonly contentType?: string;
  begin(): readonly E[];
  take(piece: GenerationPiece): readonly E[];
  end(): readonly E[] | Promise<readonly E[]>;
  fail(error: DomainError): readonly E[];
  /** An event as it is sent. */
  frame(event: E): string;
  /** The whole answer as one object. */
  whole(): object | Promise<object>;
}

/** The answer of one generation as its caller wants it: whole, or while it is made. */
export interface AnswerForm extends OutputForm {
  /** The body to send for the engine's JSON. */
  readonly whole: (answer: Buffer) => Buffer | object | Promise<Buffer | object>;
}

/** Generated text in another dialect than that of chat. */
export function dialectAnswer(dialect: TextDialect): AnswerForm {
  let hasBegun = false;
  let unreadable: DomainError | undefined;
  const framed = (events: readonly object[]): string =>
    events.map(event => dialect.frame(event)).join('');
  const beginning = (): string => {
    if (hasBegun) return '';
    hasBegun = true;
    return framed(dialect.begin());
  };
  const said = (json: Buffer): string => {
    if (unreadable) return '';
    try {
      return framed(piecesOf(json).flatMap(piece => dialect.take(piece)));
    } catch (cause) {
      const message = 'The worker sent text that cannot be read.';
      unreadable = new DomainError('engine_failed', message, { cause });
      return '';
    }
  };
  return {
    contentType: dialect.contentType,
    format: json => beginning() + said(json),
    async lastFrame(failure) {
      const why = failure ?? unreadable;
      const first = beginning();
      return first + framed(why ? dialect.fail(why) : await dialect.end());
    },
    whole(answer) {
      for (const piece of piecesOf(answer)) dialect.take(piece);
      return dialect.whole();
    },
  };
}

/** A generation that answers an HTTP request. */
export interface TextTurn {
  readonly caller: HttpCaller;
  readonly generation: Generation;
  /** Fields that only advise and have no effect. */
  readonly ignored: readonly string[];
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
    output?: OutputStream,
  ): InferenceRequest {
    const { generationTimeoutMs: timeoutMs, generationIdleMs: idleMs } = this.settings.inference;
    const work = {
      model: model.id,
      affinity: affinityOf(caller.tenant, beginning),
      bytes: body.length,
      audioDurationS: 0,
      timeoutMs,
      payload: {
        kind: 'generate',
        ...task,
        body,
        ...(output && { sink: { chunks: output } }),
      },
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

  /** Sends the whole answer. @param write as of `AnswerForm` */
  async answer(
    { caller, generation, ignored }: TextTurn,
    write: AnswerForm['whole'],
  ): Promise<void> {
    const { reply, timings } = await this.start(caller, generation).answer('generation');
    const body = await write(reply.answer);
    const known = { ...timings, usage: reply.usage };
    void caller.reply
      .headers(answerHeaders(generation.model.id, known, ignored))
      .type('application/json; charset=utf-8')
      .send(body);
  }

  /**
   * @param notice what a caller of a stream is told every few seconds until its first
   *   chunk; the first notice sends the status, and a failure is in the stream from then on
   */
  say(
    turn: TextTurn,
    form: AnswerForm,
    isStream: boolean,
    notice?: () => Promise<string>,
  ): Promise<void> {
    return isStream ? this.#stream(turn, form, notice) : this.answer(turn, form.whole);
  }

  /** Sends events from the first chunk on; their headers hold what is known by then. */
  async #stream(
    { caller, generation, ignored }: TextTurn,
    form: OutputForm,
    notice?: () => Promise<string>,
  ): Promise<void> {
    const output = new OutputStream(form);
    const started = this.start(caller, generation, output);
    let isSent = false;
    const send = (timings: RequestTimings): void => {
      if (isSent) return;
      isSent = true;
      const headers = answerHeaders(generation.model.id, timings, ignored);
      sendEvents(caller.reply, headers, output, form.contentType);
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
