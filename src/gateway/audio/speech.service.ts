import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { SPEECH_CONTENT_TYPES } from '../../contracts/formats/speech-format.js';
import { SSE_CONTENT_TYPE } from '../../contracts/formats/server-sent-event.js';
import { ignoredHeader } from '../../contracts/openai/field-rules.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { type SubmittedRequest } from '../scheduler/submitted-request.js';
import { bodyObject } from '../http/body-object.js';
import { watchDisconnect } from '../inference/disconnect-watch.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { requestPriority } from '../inference/request-priority.js';
import { timingHeaders } from '../http/request-timings.js';
import { speechEventFrames } from './speech-event-stream.js';
import { expectedSpeechS, type SpeechParams, toSpeechParams } from './speech-params.js';
import { SpeechStream } from './speech-stream.js';
import { SpeechSessions } from './speech-sessions.js';

/** One synthesis: order → scheduler → audio, sent on while the worker still makes it. */
@Injectable()
export class SpeechService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly scheduler: SchedulerService,
    private readonly sessions: SpeechSessions,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws DomainError as long as no byte was sent; later failures cut the stream. */
  async serve(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const order = toSpeechParams(bodyObject(request), this.catalog, this.settings.compat);
    const stream = new SpeechStream(this.settings.speech.maxBufferedBytes);
    const submitted = this.submit(order, stream, request);
    this.sessions.opened(submitted, order.model.id, stream.started);
    const unwatch = watchDisconnect(reply, () => void this.scheduler.cancel(submitted, 'disconnect'));
    void submitted.settled.then(({ settlement }) => {
      unwatch();
      if (settlement.status !== 'completed') stream.fail(settlement.error);
    });
    const ended = await Promise.race([stream.started, submitted.settled]);
    if (ended && ended.settlement.status !== 'completed') throw ended.settlement.error;
    this.answer(order, stream, submitted, reply);
  }

  private submit({ model, dto, voice }: SpeechParams, sink: SpeechStream, request: FastifyRequest): SubmittedRequest {
    return this.scheduler.submit({
      id: request.id,
      model: model.id,
      tenant: principalOf(request).tenant,
      priority: requestPriority(request.headers['x-priority'], dto.service_tier),
      bytes: Buffer.byteLength(dto.input),
      audioDurationS: expectedSpeechS(dto),
      payload: { kind: 'synthesize', text: dto.input, voice, speed: dto.speed, format: dto.response_format, sink },
    });
  }

  /** Only what is known at the first byte can be in the headers: the time in the queue, not the end. */
  private answer(
    { model, dto, ignored }: SpeechParams,
    stream: SpeechStream,
    submitted: SubmittedRequest,
    reply: FastifyReply,
  ): void {
    const phases = this.scheduler.find(submitted)?.phases ?? {};
    void reply
      .headers(timingHeaders({ phases }))
      .headers({ 'x-switchyard-model': model.id, ...ignoredHeader(ignored) });
    if (dto.stream_format === 'sse') {
      const frames = Readable.from(speechEventFrames(stream.audio, submitted), { objectMode: false });
      void reply.header('cache-control', 'no-cache').type(SSE_CONTENT_TYPE).send(frames);
    } else {
      // A name to save it under: Swagger UI then offers a download instead of fetching the audio again with GET.
      void reply
        .header('content-disposition', `attachment; filename="speech.${dto.response_format}"`)
        .type(SPEECH_CONTENT_TYPES[dto.response_format])
        .send(stream.audio);
    }
  }
}
