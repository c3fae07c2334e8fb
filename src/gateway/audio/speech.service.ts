import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { SSE_CONTENT_TYPE, sseData } from '../../contracts/formats/server-sent-event.js';
import {
  SPEECH_CONTENT_TYPES,
  speechDelta,
  speechDone,
} from '../../contracts/formats/speech.js';
import { Settings } from '../../platform/config/settings.js';
import { type JsonRequest } from '../http/json-body.js';
import { answerHeaders } from '../http/answer-headers.js';
import { httpCaller, InferenceService } from '../inference/inference.service.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { SpeechDto } from '../../contracts/openai/speech.dto.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type Strictness, requestParser } from '../models/model-abilities.js';
import { type SpeechSink } from '../worker-pool/worker-task.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { type OutputForm, OutputStream } from '../inference/output-stream.js';
import { type SettledRequest } from '../scheduler/submitted-request.js';

/** Sends the pieces that the worker made, and nothing else. */
const UNCHANGED: OutputForm = {
  format: chunk => chunk,
  lastFrame: () => undefined,
};

/**
 * Synthesised audio as it is made. A failure destroys the stream: the caller must not
 * take the audio as complete.
 */
export class SpeechStream extends OutputStream implements SpeechSink {
  readonly audio = this;
  #hasAudio = false;

  constructor(maxBufferedBytes: number) {
    super(UNCHANGED, maxBufferedBytes);
  }

  /**
   * Called when a worker begins. After audio was sent, a second worker (a retry) is
   * rejected: the caller would hear the sentence start over.
   * @throws DomainError `worker_lost`
   */
  header(): void {
    if (this.#hasAudio)
      throw new DomainError(
        'worker_lost',
        'The worker died in the middle of the speech.',
      );
  }

  override fail(error: DomainError): void {
    this.destroy(error);
  }

  override _writev(...args: Parameters<OutputStream['_writev']>): void {
    this.#hasAudio = true;
    super._writev(...args);
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
  else
    yield speechDone(settlement.reply.kind === 'speech' ? settlement.reply.durationS : 0);
}

const parse = requestParser(SpeechDto, 'tts');

/** @throws DomainError for the first thing wrong with the body. */
export function parseSpeech(body: Fields, catalog: ModelCatalog, compat?: Strictness) {
  const parsed = parse(body, catalog, compat);
  /** Engine voice id. */
  const voice = engineVoice(parsed.model, parsed.dto.voice);
  return { ...parsed, voice };
}

/**
 * Resolves a client name, case-insensitively, or an engine's voice id. If the model lists
 * no voices, its engine decides.
 * @throws DomainError `voice_not_found`, listing the voices.
 */
function engineVoice({ id, voices }: ModelSpec, wanted: string): string {
  if (Object.hasOwn(voices, wanted)) return voices[wanted] ?? wanted;
  const names = Object.keys(voices);
  const alike = names.find(name => name.toLowerCase() === wanted.toLowerCase());
  if (alike !== undefined) return voices[alike] ?? alike;
  if (names.length === 0 || Object.values(voices).includes(wanted)) return wanted;
  const message = `The model \`${id}\` has no voice \`${wanted}\`; its voices: ${names.join(', ')}.`;
  throw new DomainError('voice_not_found', message, { param: 'voice' });
}

/**
 * 15 characters take about a second: enough for a time limit, long before
 * anything is spoken.
 */
const CHARACTERS_PER_S = 15;

/**
 * What the scheduler and the worker need. The expected duration decides the
 * inference deadline (D-07).
 */
export function speechWork(
  { model, dto, voice }: ReturnType<typeof parseSpeech>,
  sink: SpeechSink,
) {
  const { input: text, speed, response_format: format } = dto;
  return {
    model: model.id,
    bytes: Buffer.byteLength(text),
    audioDurationS: text.length / CHARACTERS_PER_S / speed,
    payload: { kind: 'synthesize', text, voice, speed, format, sink },
  } as const;
}

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
