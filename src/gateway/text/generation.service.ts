import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type CallTokenUsage } from '../../contracts/grpc/generation.codec.js';
import { withJsonFields } from '../../contracts/formats/json-fields.js';
import { SSE_CONTENT_TYPE } from '../../contracts/formats/server-sent-event.js';
import { type RequestPriority } from '../../core/request/request-priority.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { type SettledRequest, type SubmittedRequest } from '../scheduler/submitted-request.js';
import { type GenerationReply, type GenerationSink } from '../worker-pool/worker-task.js';
import { bodyObject } from '../http/body-object.js';
import { watchDisconnect } from '../inference/disconnect-watch.js';
import { toChatParams, toCompletionParams, type GenerationParams } from './generation-params.js';
import { GenerationSessions } from './generation-sessions.js';
import { GenerationStream } from './generation-stream.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { affinityOf } from './prompt-beginning.js';
import { rawBodyOf } from '../http/raw-body.js';
import { requestPriority } from '../inference/request-priority.js';
import { timingHeaders } from '../http/request-timings.js';
import { usedTier } from '../inference/service-tier.js';
import { SilenceWatch } from '../inference/silence-watch.js';

const ORDERS = { chat: toChatParams, completions: toCompletionParams } as const;

interface GenerationCall {
  readonly order: GenerationParams;
  readonly priority: RequestPriority;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** What the gateway says in the answer; the rest of it is the engine's. */
  readonly fields: { readonly model: string; readonly service_tier: string };
}

/** One chat or completion: order → scheduler → text, sent on while the worker still makes it. */
@Injectable()
export class GenerationService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly scheduler: SchedulerService,
    private readonly sessions: GenerationSessions,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws DomainError as long as no chunk was sent; later failures are the last event of the stream. */
  async serve(route: keyof typeof ORDERS, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const order = ORDERS[route](bodyObject(request), this.catalog);
    const { service_tier, stream } = order.dto;
    const priority = requestPriority(request.headers['x-priority'], service_tier);
    const fields = { model: order.model.id, service_tier: usedTier(priority, service_tier) };
    const call = { order, priority, request, reply, fields };
    await (stream ? this.answerInChunks(call) : this.answerAsAWhole(call));
  }

  private async answerAsAWhole(call: GenerationCall): Promise<void> {
    const settled = await this.submit(call).settled;
    const { answer, ttftMs, usage } = wholeAnswer(settled);
    if (ttftMs !== undefined) this.sessions.firstToken(call.fields.model, ttftMs);
    void call.reply
      .headers(timingHeaders({ ...settled, ttftMs, ...(usage && { usage }) }))
      .header('x-switchyard-model', call.fields.model)
      .type('application/json; charset=utf-8')
      .send(withJsonFields(answer, call.fields));
  }

  /** Until the first chunk a failure is a normal error; only what is known by then is in the headers. */
  private async answerInChunks(call: GenerationCall): Promise<void> {
    const { reply, fields } = call;
    const session = this.sessions.session(fields.model);
    const stream = new GenerationStream({
      maxBufferedBytes: this.settings.generation.maxBufferedBytes,
      fields,
      onChunk: () => {
        session.chunk(stream.held);
        silence.heard();
      },
    });
    const stopSilent = (): void => void this.scheduler.cancel(submitted, 'silence');
    const silence = new SilenceWatch(this.settings.inference.generationIdleMs, stopSilent, () => stream.held);
    const submitted = this.submit(call, stream);
    const { settled } = submitted;
    void settled.then(({ settlement }) => {
      silence.stop();
      if (settlement.status !== 'completed') stream.fail(settlement.error);
    });
    const ended = await Promise.race([stream.started.then(() => undefined), settled]);
    if (ended && ended.settlement.status !== 'completed') throw ended.settlement.error;
    const phases = ended?.phases ?? this.scheduler.find(submitted)?.phases ?? {};
    void reply
      .headers(timingHeaders({ phases, ttftMs: session.firstTokenMs }))
      .headers({ 'x-switchyard-model': fields.model, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
      .type(SSE_CONTENT_TYPE)
      .send(stream.chunks);
  }

  private submit({ order, priority, request, reply }: GenerationCall, sink?: GenerationSink): SubmittedRequest {
    const body = rawBodyOf(request);
    const { tenant } = principalOf(request);
    const submitted = this.scheduler.submit({
      id: request.id,
      model: order.model.id,
      tenant,
      affinity: affinityOf(tenant, order.beginning),
      priority,
      bytes: body.length,
      audioDurationS: 0,
      timeoutMs: this.settings.inference.generationTimeoutMs,
      payload: { kind: 'generate', ...order.task, body, ...(sink && { sink }) },
    });
    this.sessions.opened(submitted, order.model.id);
    const unwatch = watchDisconnect(reply, () => void this.scheduler.cancel(submitted, 'disconnect'));
    return { ...submitted, settled: submitted.settled.finally(unwatch) };
  }
}

interface WholeAnswer {
  readonly answer: Buffer;
  /** From acceptance on; undefined where the engine does not tell. */
  readonly ttftMs: number | undefined;
  readonly usage: CallTokenUsage | undefined;
}

function wholeAnswer({ settlement, phases }: SettledRequest): WholeAnswer {
  if (settlement.status !== 'completed') throw settlement.error;
  if (settlement.reply.kind !== 'generation') throw new Error('the worker answered a generation with something else');
  const { answer, firstTokenMs, execution, usage }: GenerationReply = settlement.reply;
  if (firstTokenMs === undefined) return { answer, ttftMs: undefined, usage };
  return { answer, ttftMs: (phases.queueWaitMs ?? 0) + execution.readyWaitMs + firstTokenMs, usage };
}
