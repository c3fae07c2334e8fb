import { Injectable } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { deviceShareMs } from '../../contracts/grpc/call.codec.js';
import {
  SSE_CONTENT_TYPE,
  SSE_DONE,
  sseData,
} from '../../contracts/formats/server-sent-event.js';
import {
  transcriptBody,
  segmentEvents,
  textDone,
  transcriptEvents,
} from '../../contracts/formats/transcript-body.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { Settings } from '../../platform/config/settings.js';
import { audioDuration } from '../../platform/storage/audio-duration.js';
import { type FormSource } from '../http/multipart-form.js';
import { answerHeaders } from '../http/answer-headers.js';
import {
  httpCaller,
  type InferenceCaller,
  type InferenceRequest,
  InferenceService,
} from '../inference/inference.service.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { WrittenForm } from '../written-form/written-form.js';
import {
  type ParsedTranscription,
  parseTranscription,
  parseTranslation,
} from './parse-transcription.js';
import { type AudioForm, UploadReader, type UploadRules } from './upload-reader.js';
import { gapBetween } from '../../contracts/formats/joined-text.js';
import {
  type TokenLogprob,
  type Transcript,
  type TranscriptSegment,
} from '@switchyard/engine-api/speech-recognizer.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { OutputStream } from '../inference/output-stream.js';

interface TranscriptStreamOptions {
  /** Send `transcript.text.segment` after each delta. */
  readonly diarized: boolean;
  /** Converts the spoken text of a segment to its written form. */
  readonly write: (spoken: string) => string;
}

/**
 * A transcript as OpenAI's events: one delta per segment when it is final, one done,
 * `[DONE]`. The joined deltas are the text of `done`. What a slow reader has not received
 * is text, bounded by the length of the audio.
 */
class TranscriptStream extends OutputStream {
  #text = '';
  /** Number of the next segment to send. */
  #next = 0;

  constructor(private readonly options: TranscriptStreamOptions) {
    super();
  }

  /**
   * A second worker that starts over after the first one's death repeats segments; those
   * are left out.
   */
  readonly segment = (
    segment: TranscriptSegment,
    logprobs: readonly TokenLogprob[],
  ): void => {
    if (segment.id < this.#next) return;
    this.#next = segment.id + 1;
    const { diarized, write } = this.options;
    const written = { ...segment, text: write(segment.text).trim() };
    if (written.text === '') return;
    const delta = gapBetween(this.#text, written.text) + written.text;
    this.#text += delta;
    this.#send(
      segmentEvents(written, {
        delta,
        diarized,
        ...(logprobs.length > 0 && { logprobs }),
      }),
    );
  };

  /**
   * @param transcript in its written form; if segments were sent before, their text is
   *   used instead of its own
   * @param deviceMs what it cost
   */
  finish(transcript: Transcript, deviceMs?: number): void {
    if (this.#text === '')
      this.#send(transcriptEvents(transcript, { ...this.options, deviceMs }));
    else this.#send([textDone({ ...transcript, text: this.#text }, deviceMs)]);
    this.body.end();
  }

  protected format(frame: Buffer): Buffer {
    return frame;
  }

  protected lastFrame(failure: DomainError | undefined): string {
    return failure ? sseData(errorEnvelope(failure)) : SSE_DONE;
  }

  #send(events: readonly object[]): void {
    for (const event of events) this.body.write(sseData(event));
  }
}

const PARSERS = {
  transcriptions: parseTranscription,
  translations: parseTranslation,
} as const;

/**
 * 128 kbit/s: what podcasts and recorders write. Longer audio by URL has to be computed
 * in the time this allows.
 */
const USUAL_BYTES_PER_S = 16_000;

/** What a route does with its form. */
export interface TranscriptionForm extends Omit<UploadRules, 'beforeFile'> {
  /** @throws DomainError */
  readonly parse: (fields: AudioForm['fields']) => ParsedTranscription;
}

type Start = (output?: TranscriptStream) => Promise<InferenceRequest>;

/** `/v1/audio/transcriptions` and `/v1/audio/translations`. */
@Injectable()
export class TranscriptionService {
  constructor(
    private readonly uploads: UploadReader,
    private readonly catalog: ModelCatalog,
    private readonly inference: InferenceService,
    private readonly writtenForm: WrittenForm,
    private readonly settings: Settings,
  ) {}

  /** @throws DomainError for everything that is not an answer */
  serve(
    route: keyof typeof PARSERS,
    form: FormSource,
    reply: FastifyReply,
  ): Promise<void> {
    const parse = PARSERS[route];
    return this.run(
      { parse: fields => parse(fields, this.catalog, this.settings.compat) },
      form,
      reply,
    );
  }

  /**
   * @throws DomainError for everything that is not an answer. The upload is deleted
   *   when this settles.
   */
  async run(
    { parse, ...file }: TranscriptionForm,
    form: FormSource,
    reply: FastifyReply,
  ): Promise<void> {
    const upload = await this.uploads.read(form, {
      ...file,
      beforeFile: fields => this.#checkEarly(fields),
    });
    try {
      const parsed = parse(upload.fields);
      this.writtenForm.demand(parsed.itn);
      const start: Start = output =>
        this.#start(parsed, upload, httpCaller(reply, parsed), output);
      const spell = parsed.answer.stream ? this.writtenForm.ahead(parsed.itn) : undefined;
      await (spell
        ? this.#answerInPieces(parsed, reply, start, spell)
        : this.#answerAsAWhole(parsed, reply, start));
    } finally {
      if ('dispose' in upload.audio) await upload.audio.dispose();
    }
  }

  /** Reports a wrong model before the audio is received. */
  #checkEarly({ model }: AudioForm['fields']): void {
    if (typeof model === 'string') this.catalog.getOfKind(model, 'stt');
  }

  async #answerAsAWhole(
    parsed: ParsedTranscription,
    reply: FastifyReply,
    start: Start,
  ): Promise<void> {
    const answer = await (await start()).answer('transcript');
    const transcript = this.writtenForm.apply(answer.reply.transcript, parsed.itn);
    const { contentType, body } =
      parsed.write?.(transcript) ?? transcriptBody(transcript, parsed.answer);
    void reply
      .headers(answerHeaders(parsed.model.id, answer.timings, parsed.ignored))
      .type(contentType)
      .send(body);
  }

  /** Until the first event a failure is a normal error; then it is the last event. */
  async #answerInPieces(
    parsed: ParsedTranscription,
    reply: FastifyReply,
    start: Start,
    write: (spoken: string) => string,
  ): Promise<void> {
    const output = new TranscriptStream({
      diarized: parsed.answer.format === 'diarized_json',
      write,
    });
    const transcription = await start(output);
    const finished = transcription.answer('transcript').then(
      ({ reply: { transcript, execution } }) =>
        output.finish(
          this.writtenForm.apply(transcript, parsed.itn),
          deviceShareMs(execution),
        ),
      () => undefined,
    );
    const { phases } = await transcription.firstOutput();
    void reply
      .headers(answerHeaders(parsed.model.id, { phases }, parsed.ignored))
      .header('cache-control', 'no-cache')
      .type(SSE_CONTENT_TYPE)
      .send(output.body);
    // The upload is needed until then: if a worker dies, another one starts over.
    await finished;
  }

  async #start(
    { model, params }: ParsedTranscription,
    upload: AudioForm,
    caller: InferenceCaller,
    output?: TranscriptStream,
  ): Promise<InferenceRequest> {
    const { audio, filename } = upload;
    const durationS = await this.#seconds(upload);
    const onSegment = output?.segment;
    const work = {
      model: model.id,
      bytes: 'size' in audio ? audio.size : 0,
      audioDurationS: durationS,
      payload: { kind: 'transcribe', audio, filename, durationS, onSegment, ...params },
    } as const;
    return this.inference.start(caller, work, output && { output });
  }

  /**
   * Of audio by URL only the limits are known: the largest size accepted, and how long
   * its download may last.
   */
  async #seconds(upload: AudioForm): Promise<number> {
    if ('url' in upload.audio) {
      const { fetch, server } = this.settings;
      return fetch.timeoutMs / 1000 + server.uploadLimitBytes / USUAL_BYTES_PER_S;
    }
    const { known, seconds } = await audioDuration(upload.audio, upload.filename);
    if (known && seconds === 0) {
      throw new DomainError('audio_too_short', 'The audio holds no samples.', {
        param: 'file',
      });
    }
    return seconds;
  }
}
