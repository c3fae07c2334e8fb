import { Injectable } from '@nestjs/common';
import {
  type TokenLogprob,
  type Transcript,
  type TranscriptSegment,
} from '@switchyard/engine-api/speech-recognizer.js';
import { deviceShareMs } from '@switchyard/worker-protocol/call.codec.js';
import { type FastifyReply } from 'fastify';
import { joinedText } from '../../contracts/formats/joined-text.js';
import { SSE_CONTENT_TYPE, SSE_DONE, sseData } from '../../contracts/formats/server-sent-event.js';
import { transcriptBody } from '../../contracts/formats/transcript-body.js';
import {
  segmentEvents,
  textDone,
  transcriptEvents,
} from '../../contracts/formats/transcript-events.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { Settings } from '../../platform/config/settings.js';
import { audioDuration } from '../../platform/storage/audio-duration.js';
import { Spool } from '../../platform/storage/upload-spool.js';
import { type FormSource } from '../http/multipart-form.js';
import {
  httpCaller,
  type InferenceCaller,
  type InferenceRequest,
  InferenceService,
} from '../inference/inference.service.js';
import { type OutputForm, OutputStream } from '../inference/output-stream.js';
import { answerHeaders } from '../latency/answer-headers.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { WrittenForm } from '../written-form/written-form.js';
import { type ParsedTranscription, type parseTranscription } from './parse-transcription.js';
import { type FileRules, readUpload } from './upload-reader.js';

const TRANSCRIPT_FORM: OutputForm = {
  format: frame => frame,
  lastFrame: failure => (failure ? sseData(errorEnvelope(failure)) : SSE_DONE),
};

/**
 * A transcript as OpenAI's events: one delta per segment when it is final, one done,
 * `[DONE]`. The joined deltas are the text of `done`. What a slow reader has not received
 * is text, bounded by the length of the audio.
 */
class TranscriptStream extends OutputStream {
  #text = '';
  /** Number of the next segment to send. */
  #next = 0;

  constructor(
    private readonly options: {
      /** Send `transcript.text.segment` after each delta. */
      readonly diarized: boolean;
      /** Converts the spoken text of a segment to its written form. */
      readonly write: (spoken: string) => string;
    },
  ) {
    super(TRANSCRIPT_FORM);
  }

  /**
   * A second worker that starts over after the first one's death repeats segments; those
   * are left out.
   */
  readonly segment = (segment: TranscriptSegment, logprobs: readonly TokenLogprob[]): void => {
    if (segment.id < this.#next) return;
    this.#next = segment.id + 1;
    const { diarized, write } = this.options;
    const written = { ...segment, text: write(segment.text).trim() };
    if (written.text === '') return;
    const text = joinedText([this.#text, written.text]);
    const delta = text.slice(this.#text.length);
    this.#text = text;
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
    if (this.#text === '') this.#send(transcriptEvents(transcript, { ...this.options, deviceMs }));
    else this.#send([textDone({ ...transcript, text: this.#text }, deviceMs)]);
    this.end();
  }

  #send(events: readonly object[]): void {
    for (const event of events) this.write(sseData(event));
  }
}

/**
 * 128 kbit/s: what podcasts and recorders write. Longer audio by URL has to be computed
 * in the time this allows.
 */
const USUAL_BYTES_PER_S = 16_000;

type Upload = Awaited<ReturnType<typeof readUpload>>;

/** `/v1/audio/transcriptions` and `/v1/audio/translations`. */
@Injectable()
export class TranscriptionService {
  constructor(
    private readonly spool: Spool,
    private readonly catalog: ModelCatalog,
    private readonly inference: InferenceService,
    private readonly writtenForm: WrittenForm,
    private readonly settings: Settings,
  ) {}

  /**
   * @param parse throws DomainError for the first thing wrong with its fields
   * @throws DomainError for everything that is not an answer. The upload is deleted
   *   when this settles.
   */
  async answer(
    form: FormSource,
    reply: FastifyReply,
    parse: typeof parseTranscription,
    file: FileRules = {},
  ): Promise<void> {
    const catalog = this.catalog.usableBy(principalOf(reply.request));
    // A wrong model is reported before the audio is received.
    const upload = await readUpload(form, this.spool, {
      ...file,
      limitBytes: this.settings.server.uploadLimitBytes,
      beforeFile: ({ model }) => {
        if (typeof model === 'string') catalog.getOfKind(model, 'stt');
      },
    });
    try {
      const parsed = parse(upload.fields, catalog, this.settings.compat);
      this.writtenForm.demand(parsed.itn);
      const write = parsed.answer.stream ? this.writtenForm.ahead(parsed.itn) : undefined;
      const diarized = parsed.answer.format === 'diarized_json';
      const output = write && new TranscriptStream({ diarized, write });
      const caller = httpCaller(reply, parsed);
      const request = await this.#start(parsed, upload, caller, output);
      await (output
        ? this.#sendEvents(parsed, reply, request, output)
        : this.#sendWhole(parsed, reply, request));
    } finally {
      if ('dispose' in upload.audio) await upload.audio.dispose();
    }
  }

  async #sendWhole(
    parsed: ParsedTranscription,
    reply: FastifyReply,
    request: InferenceRequest,
  ): Promise<void> {
    const answer = await request.answer('transcript');
    const transcript = this.writtenForm.apply(answer.reply.transcript, parsed.itn);
    const { contentType, body } =
      parsed.write?.(transcript) ?? transcriptBody(transcript, parsed.answer);
    void reply
      .headers(answerHeaders(parsed.model.id, answer.timings, parsed.ignored))
      .type(contentType)
      .send(body);
  }

  /** Until the first event a failure is a normal error; then it is the last event. */
  async #sendEvents(
    parsed: ParsedTranscription,
    reply: FastifyReply,
    request: InferenceRequest,
    output: TranscriptStream,
  ): Promise<void> {
    const finished = request.answer('transcript').then(
      ({ reply: { transcript, execution } }) =>
        output.finish(this.writtenForm.apply(transcript, parsed.itn), deviceShareMs(execution)),
      () => undefined,
    );
    const { phases } = await request.firstOutput();
    void reply
      .headers(answerHeaders(parsed.model.id, { phases }, parsed.ignored))
      .header('cache-control', 'no-cache')
      .type(SSE_CONTENT_TYPE)
      .send(output);
    // The upload is needed until then: if a worker dies, another one starts over.
    await finished;
  }

  async #start(
    { model, params }: ParsedTranscription,
    upload: Upload,
    caller: InferenceCaller,
    output?: TranscriptStream,
  ): Promise<InferenceRequest> {
    const { audio, filename } = upload;
    const durationS = await this.#seconds(upload);
    await this.inference.demandHarmless(model.id, audio);
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
  async #seconds({ audio, filename }: Upload): Promise<number> {
    if ('url' in audio) {
      const { fetch, server } = this.settings;
      return fetch.timeoutMs / 1000 + server.uploadLimitBytes / USUAL_BYTES_PER_S;
    }
    const { known, seconds } = await audioDuration(audio, filename);
    if (known && seconds === 0) {
      throw new DomainError('audio_too_short', 'The audio holds no samples.', {
        param: 'file',
      });
    }
    return seconds;
  }
}
