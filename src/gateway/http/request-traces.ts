import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Subscription } from 'rxjs';
import { type DispatchEvent, type EventOf } from '../../core/dispatch/dispatch-event.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { tracedShare } from '../../platform/config/process-environment.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { QUIET_URL } from '../../platform/logging/request-lines.js';
import {
  contextAfter,
  TRACE_LINK_HEADER,
  traceparentIn,
  traceparentOf,
  TRACER,
} from '../../platform/tracing/tracing.module.js';

/** Where a request is: in its queue, or with a worker. */
interface Stage {
  /** Of the HTTP exchange that it came with. */
  readonly context: Context;
  readonly span: Span;
  /** Monotonic milliseconds. */
  readonly sinceMs: number;
}

/**
 * Spans of each request: its HTTP exchange and, below that, queue, window, worker call,
 * preparation and device, by the events of the bus (D-23). Neither hook nor subscription
 * exists without an endpoint for traces.
 */
@Injectable()
export class RequestTraces implements OnModuleInit, OnApplicationShutdown {
  readonly #stages = new Map<RequestKey, Stage>();
  #events = Subscription.EMPTY;

  constructor(
    @Inject(TRACER) private readonly tracer: Tracer,
    private readonly bus: DispatchEventBus,
  ) {}

  onModuleInit(): void {
    if (tracedShare() !== undefined)
      this.#events = this.bus.events$.subscribe(event => this.#follow(event));
  }

  onApplicationShutdown(): void {
    this.#events.unsubscribe();
  }

  /** What later hooks and routes read as `traceparent` is the span of the exchange. */
  watch(fastify: FastifyInstance): void {
    if (tracedShare() === undefined) return;
    fastify.addHook('onRequest', (request, reply, done) => {
      if (!QUIET_URL.test(request.url)) this.#exchange(request, reply);
      done();
    });
  }

  #exchange(
    { id, method, headers, routeOptions: { url = 'unknown' } }: FastifyRequest,
    { raw }: FastifyReply,
  ): void {
    const link = trace.getSpanContext(contextAfter(traceparentIn(headers, TRACE_LINK_HEADER)));
    const attributes = {
      'http.request.method': method,
      'http.route': url,
      'request.id': id,
    };
    const options = {
      kind: SpanKind.SERVER,
      attributes,
      links: link ? [{ context: link }] : [],
    };
    const span = this.tracer.startSpan(
      `${method} ${url}`,
      options,
      contextAfter(traceparentIn(headers)),
    );
    // A trace that is not recorded costs nothing further: it is not passed on.
    if (!span.isRecording()) return;
    headers.traceparent = traceparentOf(span.spanContext());
    raw.once('close', () => {
      span.setAttribute('http.response.status_code', raw.statusCode);
      if (raw.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
  }

  #follow(event: DispatchEvent): void {
    if (event.type === 'accepted') return this.#accepted(event);
    const stage = this.#stages.get(event.key);
    if (!stage) return;
    if (event.type === 'leased') this.#leased(stage, event);
    else if (event.type === 'settled') this.#settled(stage, event);
    else if (event.type === 'requeued') {
      end(stage, event);
      this.#enter('queue', stage.context, event);
    }
  }

  #accepted(event: EventOf<'accepted'>): void {
    const { traceparent, model, tenant, priority } = event;
    if (traceparent === undefined) return;
    this.#enter('queue', contextAfter(traceparent), event, { model, tenant, priority });
  }

  #leased(stage: Stage, event: EventOf<'leased'>): void {
    const { atMs, batchWaitMs, workerId, attempt, groupSize } = event;
    if (batchWaitMs > 0) this.#part(stage, 'window', [atMs - batchWaitMs, atMs]);
    end(stage, { atMs });
    this.#enter('worker call', stage.context, event, {
      worker: workerId,
      attempt,
      'gen_ai.request.model': event.model,
      'group.size': groupSize,
    });
  }

  #settled(stage: Stage, event: EventOf<'settled'>): void {
    const { key, atMs, batchSize, deviceMs, phases } = event;
    this.#stages.delete(key);
    if (phases.readyMs !== undefined) {
      const readyAtMs = Math.min(atMs, stage.sinceMs + phases.readyMs);
      this.#part(stage, 'preparation', [stage.sinceMs, readyAtMs]);
      this.#part(stage, 'device', [readyAtMs, atMs], {
        'batch.size': batchSize,
        'device.share_ms': deviceMs,
      });
    }
    stage.span.setAttributes(generationAttributes(event));
    end(stage, event);
  }

  #enter(
    name: string,
    context: Context,
    { key, atMs }: DispatchEvent,
    attributes: Attributes = {},
  ): void {
    const span = this.tracer.startSpan(name, { startTime: atMs, attributes }, context);
    if (span.isRecording()) this.#stages.set(key, { context, span, sinceMs: atMs });
  }

  #part(
    { context, span }: Stage,
    name: string,
    [fromMs, toMs]: readonly [number, number],
    attributes: Attributes = {},
  ): void {
    this.tracer
      .startSpan(name, { startTime: fromMs, attributes }, trace.setSpan(context, span))
      .end(toMs);
  }
}

/** OpenTelemetry's names of what a model did; seconds. Those without a value are left out. */
const generationAttributes = ({
  usage,
  firstOutputMs,
  phases: { totalMs },
}: EventOf<'settled'>): Attributes => ({
  'gen_ai.usage.input_tokens': usage?.inputTokens,
  'gen_ai.usage.output_tokens': usage?.outputTokens,
  'gen_ai.server.time_to_first_token': firstOutputMs && firstOutputMs / 1000,
  'gen_ai.server.request.duration': totalMs && totalMs / 1000,
});

/** @param code why it ended without an answer */
function end(
  { span }: Stage,
  { atMs, code }: { readonly atMs: number; readonly code?: string | undefined },
): void {
  if (code !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: code });
  span.end(atMs);
}
