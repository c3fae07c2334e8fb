import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { transcriptBody } from '../../contracts/formats/transcript-body.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { audioDuration } from '../../platform/storage/audio-duration.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { type SettledRequest } from '../scheduler/submitted-request.js';
import { WrittenForm } from '../text/written-form.js';
import { type Transcript } from '../../contracts/formats/transcript.js';
import { watchDisconnect } from './disconnect-watch.js';
import { ModelCatalog } from './model-catalog.js';
import { requestPriority } from './request-priority.js';
import { timingHeaders } from './request-timings.js';
import { type TranscriptOrder, transcriptionOrder, translationOrder } from './transcript-order.js';
import { type Upload, UploadReader } from './upload-reader.js';

const ORDERS = { transcriptions: transcriptionOrder, translations: translationOrder } as const;

/** 128 kbit/s: what podcasts and recorders write. Longer audio by URL has to do with the time this allows. */
const USUAL_BYTES_PER_S = 16_000;

/** One transcription or translation: upload → order → scheduler → answer. */
@Injectable()
export class TranscriptService {
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
      const order = ORDERS[route](upload.fields, this.catalog);
      this.writtenForm.demand(order.itn);
      const settled = await this.settle(order, upload, { request, reply });
      const transcript = this.writtenForm.apply(transcriptOf(settled), order.itn);
      const { contentType, body } = transcriptBody(transcript, order.answer);
      void reply
        .headers(timingHeaders(settled))
        .header('x-switchyard-model', order.model.id)
        .type(contentType)
        .send(body);
    } finally {
      if ('dispose' in upload.audio) await upload.audio.dispose();
    }
  }

  /** A wrong model is worth telling before the audio is taken in. */
  private checkEarly({ model }: Upload['fields']): void {
    if (typeof model === 'string') this.catalog.getOfKind(model, 'stt');
  }

  private async settle(
    { model, options, tier }: TranscriptOrder,
    upload: Upload,
    { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  ): Promise<SettledRequest> {
    const { audio, filename } = upload;
    const submitted = this.scheduler.submit({
      id: request.id,
      model: model.id,
      tenant: principalOf(request).tenant,
      priority: requestPriority(request.headers['x-priority'], tier),
      bytes: 'size' in audio ? audio.size : 0,
      audioDurationS: await this.seconds(upload),
      payload: { kind: 'transcribe', audio, filename, ...options },
    });
    const unwatch = watchDisconnect(reply, () => void this.scheduler.cancel(request.id, 'disconnect'));
    return submitted.settled.finally(unwatch);
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
