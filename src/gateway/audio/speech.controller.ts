import { Readable } from 'node:stream';
import { Controller, Post, Res } from '@nestjs/common';
import { SPEECH_CONTENT_TYPES } from '@switchyard/worker-protocol/speech-format.js';
import { type FastifyReply } from 'fastify';
import { SSE_CONTENT_TYPE, sseData } from '../../contracts/formats/server-sent-event.js';
import { speechDelta, speechDone } from '../../contracts/formats/speech.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { Settings } from '../../platform/config/settings.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { httpCaller, InferenceService } from '../inference/inference.service.js';
import { answerHeaders } from '../latency/answer-headers.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { type SettledRequest } from '../registry/submitted-request.js';
import { DescribesSpeech } from './speech.openapi.js';
import { parseSpeech, startSpeech } from './start-speech.js';

/** `/v1/audio/speech`: the audio is sent while the worker still makes it. */
@Controller('v1/audio/speech')
export class SpeechController {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly inference: InferenceService,
    private readonly settings: Settings,
  ) {}

  /** @throws DomainError as long as no byte was sent; later failures cut the stream. */
  @Post()
  @DescribesSpeech()
  async create(@JsonBody() { fields }: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    const params = parseSpeech(
      fields,
      this.catalog.usableBy(principalOf(reply.request)),
      this.settings.compat,
    );
    const { model, dto, ignored } = params;
    const caller = httpCaller(reply, { tier: dto.service_tier, model });
    const { audio, request } = startSpeech(this.inference, caller, params);
    const { phases } = await request.firstOutput();
    void reply.headers(answerHeaders(model.id, { phases }, ignored));
    if (dto.stream_format === 'sse') {
      const events = speechEvents(audio, request.settled);
      void reply
        .header('cache-control', 'no-cache')
        .type(SSE_CONTENT_TYPE)
        .send(Readable.from(events, { objectMode: false }));
    } else {
      // A name to save it under: Swagger UI then offers a download instead of fetching
      // the audio again with GET.
      const attachment = `attachment; filename="speech.${dto.response_format}"`;
      void reply
        .header('content-disposition', attachment)
        .type(SPEECH_CONTENT_TYPES[dto.response_format])
        .send(audio);
    }
  }
}

/**
 * `stream_format: sse`: one delta per piece of audio, then `done`, or the error envelope
 * if the synthesis fails.
 */
async function* speechEvents(
  audio: Readable,
  settled: Promise<SettledRequest>,
): AsyncGenerator<string> {
  try {
    for await (const chunk of audio) yield speechDelta(chunk as Buffer);
  } catch {
    // The stream breaks because the request failed; the settlement says why.
  }
  const { settlement } = await settled;
  if (settlement.status !== 'completed') yield sseData(errorEnvelope(settlement.error));
  else yield speechDone(settlement.reply.kind === 'speech' ? settlement.reply.durationS : 0);
}
