import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { SSE_CONTENT_TYPE } from '../../contracts/formats/server-sent-event.js';
import { transcriptBody } from '../../contracts/formats/transcript-body.js';
import { ignoredHeader } from '../../contracts/openai/field-rules.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { audioDuration } from '../../platform/storage/audio-duration.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { type SettledRequest, type SubmittedRequest } from '../scheduler/submitted-request.js';
import { WrittenForm } from '../written-form/written-form.js';
import { type Transcript } from '../../contracts/formats/transcript.js';
import { watchDisconnect } from '../inference/disconnect-watch.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { requestPriority } from '../inference/request-priority.js';
import { timingHeaders } from '../http/request-timings.js';
import { type TranscriptionParams, toTranscriptionParams, toTranslationParams } from './transcription-params.js';
import { TranscriptStream } from './transcript-stream.js';
import { type Upload, UploadReader } from './upload-reader.js';
import { type TranscribeTask } from '../worker-pool/worker-task.js';

const ORDERS = { transcriptions: toTranscriptionParams, translations: toTranslationParams } as const;

/** 128 kbit/s: what podcasts and recorders write. Longer audio by URL has to do with the time this allows. */
const USUAL_BYTES_PER_S = 16_000;

interface TranscriptCall {
  readonly order: TranscriptionParams;
  readonly upload: Upload;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** One transcription or translation: upload → order → scheduler → answer. */
@Injectable()
export class TranscriptionService {
  constructor(
    private readonly uploads: UploadReader,
    private readonly catalog: ModelCatalog,
    private readonly scheduler: SchedulerService,
    private readonly writtenForm: WrittenForm,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws DomainError for everything that is not an answer. The upload is gone when this settles. */
  async serve(route: keyof typeof ORDERS, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const upload = await this.uploads.read(request, fields => this.checkEarly(fields));
    try {
      const order = ORDERS[route](upload.fields, this.catalog, this.settings.compat);
      this.writtenForm.demand(order.itn);
      const call = { order, upload, request, reply };
      const write = order.answer.stream ? this.writtenForm.ahead(order.itn) : undefined;
      await (write ? this.answerInPieces(call, write) : this.answerAsAWhole(call));
    } finally {
      if ('dispose' in upload.audio) await upload.audio.dispose();
    }
  }

  /** A wrong model is worth telling before the audio is taken in. */
  private checkEarly({ model }: Upload['fields']): void {
    if (typeof model === 'string') this.catalog.getOfKind(model, 'stt');
  }

  private async answerAsAWhole(call: TranscriptCall): Promise<void> {
    const { order, reply } = call;
    const settled = await (await this.submit(call)).settled;
    const { contentType, body } = transcriptBody(this.written(settled, order), order.answer);
    void reply
      .headers(timingHeaders(settled))
      .headers({ 'x-switchyard-model': order.model.id, ...ignoredHeader(order.ignored) })
      .type(contentType)
      .send(body);
  }

  /** Until the first event a failure is a normal error; then it is the last event. Only what is known by then is in the headers. */
  private async answerInPieces(call: TranscriptCall, write: (spoken: string) => string): Promise<void> {
    const { order, reply } = call;
    const stream = new TranscriptStream({ diarized: order.answer.format === 'diarized_json', write });
    const submitted = await this.submit(call, stream.segment);
    const ended = submitted.settled.then(end => {
      if (end.settlement.status === 'completed') stream.finish(this.written(end, order));
      else stream.fail(end.settlement.error);
      return end;
    });
    const first = await Promise.race([stream.started, ended]);
    if (first && first.settlement.status !== 'completed') throw first.settlement.error;
    void reply
      .headers(timingHeaders(first ?? { phases: this.scheduler.find(submitted)?.phases ?? {} }))
      .headers({ 'x-switchyard-model': order.model.id, 'cache-control': 'no-cache', ...ignoredHeader(order.ignored) })
      .type(SSE_CONTENT_TYPE)
      .send(stream.body);
    // The upload is needed until then: a worker that dies is replaced by one that begins anew.
    await ended;
  }

  private written(settled: SettledRequest, { itn }: TranscriptionParams): Transcript {
    return this.writtenForm.apply(transcriptOf(settled), itn);
  }

  private async submit(
    { order, upload, request, reply }: TranscriptCall,
    onSegment?: TranscribeTask['onSegment'],
  ): Promise<SubmittedRequest> {
    const { audio, filename } = upload;
    const durationS = await this.seconds(upload);
    const submitted = this.scheduler.submit({
      id: request.id,
      model: order.model.id,
      tenant: principalOf(request).tenant,
      priority: requestPriority(request.headers['x-priority'], order.tier),
      bytes: 'size' in audio ? audio.size : 0,
      audioDurationS: durationS,
      payload: { kind: 'transcribe', audio, filename, durationS, onSegment, ...order.options },
    });
    const unwatch = watchDisconnect(reply, () => void this.scheduler.cancel(submitted, 'disconnect'));
    return { ...submitted, settled: submitted.settled.finally(unwatch) };
  }

  /** Of audio by URL nothing is known but the largest that is taken, and how long its download may last. */
  private async seconds(upload: Upload): Promise<number> {
    if ('url' in upload.audio) {
      const { fetch, server } = this.settings;
      return fetch.timeoutMs / 1000 + server.uploadLimitBytes / USUAL_BYTES_PER_S;
    }
    const { known, seconds } = await audioDuration(upload.audio, upload.filename);
    if (known && seconds === 0) {
      throw new DomainError('audio_too_short', 'The audio holds no samples.', { param: 'file' });
    }
    return seconds;
  }
}

function transcriptOf({ settlement }: SettledRequest): Transcript {
  if (settlement.status !== 'completed') throw settlement.error;
  if (settlement.reply.kind !== 'transcript') throw new Error('the worker answered a transcription with speech');
  return settlement.reply.transcript;
}
