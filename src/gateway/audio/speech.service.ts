import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { SSE_CONTENT_TYPE } from '../../contracts/formats/server-sent-event.js';
import { SPEECH_CONTENT_TYPES } from '../../contracts/formats/speech.js';
import { Settings } from '../../platform/config/settings.js';
import { type JsonRequest } from '../http/json-body.js';
import { answerHeaders } from '../http/answer-headers.js';
import { httpCaller, InferenceService } from '../inference/inference.service.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { speechWork, parseSpeech } from './parse-speech.js';
import { speechEvents, SpeechStream } from './speech-stream.js';

/** `/v1/audio/speech`: the audio is sent while the worker still makes it. */
@Injectable()
export class SpeechService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly inference: InferenceService,
    private readonly settings: Settings,
  ) {}

  /** @throws DomainError as long as no byte was sent; later failures cut the stream. */
  async serve(fields: JsonRequest['fields'], reply: FastifyReply): Promise<void> {
    const params = parseSpeech(fields, this.catalog, this.settings.compat);
    const { model, dto, ignored } = params;
    const output = new SpeechStream(this.settings.speech.maxBufferedBytes);
    const caller = httpCaller(reply, { tier: dto.service_tier, model });
    const speech = this.inference.start(caller, speechWork(params, output), { output });
    const { phases } = await speech.firstOutput();
    void reply.headers(answerHeaders(model.id, { phases }, ignored));
    if (dto.stream_format === 'sse') {
      const events = Readable.from(speechEvents(output.audio, speech.settled), {
        objectMode: false,
      });
      void reply.header('cache-control', 'no-cache').type(SSE_CONTENT_TYPE).send(events);
    } else {
      // A name to save it under: Swagger UI then offers a download instead of fetching
      // the audio again with GET.
      void reply
        .header(
          'content-disposition',
          `attachment; filename="speech.${dto.response_format}"`,
        )
        .type(SPEECH_CONTENT_TYPES[dto.response_format])
        .send(output.audio);
    }
  }
}
