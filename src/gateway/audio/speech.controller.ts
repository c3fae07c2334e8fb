import { Readable } from 'node:stream';
import { applyDecorators, Controller, Post, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { SPEECH_CONTENT_TYPES } from '@switchyard/worker-protocol/speech-format.js';
import { type FastifyReply } from 'fastify';
import { SSE_CONTENT_TYPE, sseData } from '../../contracts/formats/server-sent-event.js';
import { speechDelta, speechDone } from '../../contracts/formats/speech.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { SpeechDto } from '../../contracts/openai/speech.dto.js';
import { Settings } from '../../platform/config/settings.js';
import { type JsonRequest } from '../http/json-body.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { DescribesRequestHeaders } from '../http/openapi/route.decorator.js';
import { JsonBody } from '../http/params.js';
import { httpCaller, InferenceService } from '../inference/inference.service.js';
import { answerHeaders } from '../latency/answer-headers.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { type SettledRequest } from '../registry/submitted-request.js';
import { parseSpeech, startSpeech } from './start-speech.js';

const EXAMPLES = {
  wav: {
    summary: 'A WAV file',
    value: {
      model: 'tts-1',
      voice: 'alloy',
      input: 'The quick brown fox.',
      response_format: 'wav',
    },
  },
  mp3: {
    summary: 'MP3, a little faster',
    value: { model: 'tts-1', voice: 'alloy', input: 'Good morning.', speed: 1.25 },
  },
  events: {
    summary: 'Server-sent events',
    value: {
      model: 'tts-1',
      voice: 'alloy',
      input: 'Good morning.',
      response_format: 'pcm',
      stream_format: 'sse',
    },
  },
};

const AUDIO_EVENTS = {
  type: 'string',
  description:
    'With `stream_format: sse`: `data: {…}` per event, `speech.audio.delta` with audio in base64, then one ' +
    '`speech.audio.done`. A failure after the first event is the error envelope as the last one.',
};
const AUDIO_EVENTS_EXAMPLE = speechDelta(Buffer.alloc(6)) + speechDone(1.5);

/** OpenAPI of the speech route. */
function DescribesSpeech(): MethodDecorator {
  const binary = { schema: { type: 'string', format: 'binary' } };
  const audio = Object.fromEntries(Object.values(SPEECH_CONTENT_TYPES).map(type => [type, binary]));
  return applyDecorators(
    ApiOperation({
      description: 'Chunked: the first bytes leave while the rest is still being made.',
    }),
    ApiConsumes('application/json'),
    ApiBody({ type: SpeechDto, examples: EXAMPLES }),
    DescribesRequestHeaders(),
    ApiOkResponse({
      description: 'The audio, or events with it in base64.',
      content: {
        ...audio,
        'text/event-stream': { schema: AUDIO_EVENTS, example: AUDIO_EVENTS_EXAMPLE },
      },
    }),
    DescribesErrors('invalid_json', 'voice_not_found', ...FIELD_ERRORS, ...QUEUE_ERRORS),
  );
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
    const params = parseSpeech(fields, this.catalog, this.settings.compat);
    const { model, dto, ignored } = params;
    const caller = httpCaller(reply, { tier: dto.service_tier, model });
    const { maxBufferedBytes } = this.settings.speech;
    const { audio, request } = startSpeech(this.inference, caller, params, maxBufferedBytes);
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
