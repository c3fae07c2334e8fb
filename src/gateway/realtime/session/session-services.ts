import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { PLAIN_TRANSCRIPTION } from '@switchyard/engine-api/speech-recognizer.js';
import { type SessionConfig } from '../../../contracts/realtime/session-config.js';
import { type KeyTerms } from '../../../core/access/key-terms.js';
import { requestKey } from '../../../core/request/request-key.js';
import { RequestPriority } from '../../../core/request/request-priority.js';
import { type Principal } from '../../../platform/auth/principal.js';
import { Settings } from '../../../platform/config/settings.js';
import { parseSpeech, startSpeech } from '../../audio/start-speech.js';
import { type InferenceCaller, InferenceService } from '../../inference/inference.service.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { type StreamHandle } from '../../worker-pool/stream-handle.js';
import { WorkerPoolService } from '../../worker-pool/worker-pool.service.js';
import { WrittenForm } from '../../written-form/written-form.js';
import { InterimPasses } from './interim-passes.js';
import { type SpokenText } from './session-actions.js';
import { SessionActivity } from './session-activity.js';
import { UtteranceStream } from './utterance-stream.js';

/**
 * What every live session uses. Its requests go through the scheduler at REALTIME priority
 * and are counted as those of HTTP are: speech output, and utterances for models without
 * live streams.
 */
@Injectable()
export class SessionServices {
  constructor(
    readonly catalog: ModelCatalog,
    private readonly inference: InferenceService,
    readonly activity: SessionActivity,
    readonly settings: Settings,
    private readonly pool: WorkerPoolService,
    private readonly writtenForm: WrittenForm,
    private readonly interims: InterimPasses,
  ) {}

  /** Canonical id of the model that recognises. */
  modelOf({ model }: SessionConfig): string {
    return this.catalog.getOfKind(model, 'stt').id;
  }

  /** Its workers take live streams; of others each utterance is a request. */
  streams(model: string): boolean {
    return this.catalog.get(model).capabilities.includes('stream');
  }

  /** Leases a streaming slot, if need be. @throws DomainError when there is none. */
  openStream(
    sessionId: string,
    model: string,
    config: SessionConfig,
    owner: Principal,
  ): StreamHandle {
    const { language, prompt, turnDetection, format } = config;
    if (!this.streams(model))
      return new UtteranceStream({
        sampleRate: format.sampleRate,
        voiceActivity: turnDetection ?? undefined,
        interim: this.interims.of(model),
        recognise: (wav, durationS, name, draft) => {
          const caller = { ...owner, id: `${sessionId}.${name}` };
          const start = () =>
            this.#recognise(caller, { model, wav, durationS, language, prompt, draft });
          return draft ? this.interims.run(model, requestKey(caller), start) : start();
        },
      });
    return this.pool.openStream(model, {
      sessionId,
      language,
      prompt,
      sampleRate: format.sampleRate,
      partials: true,
      ...(turnDetection && { voiceActivity: turnDetection }),
    });
  }

  /**
   * Its workers are running or starting, unless an operator unloaded it or
   * none can start.
   */
  loads(model: string): boolean {
    const workers = this.pool.of(model);
    return !workers?.isHeld && workers?.loadFailure === undefined;
  }

  /**
   * Final text as it is written, as for files: by the model's `itn`, where the language is
   * known in advance.
   */
  written(spoken: string, { model, language }: SessionConfig): string {
    const { itn = false, languages } = this.catalog.get(model);
    const order = {
      wanted: itn,
      demanded: false,
      languages: language === '' ? languages : [language],
    };
    return this.writtenForm.ahead(order)?.(spoken) ?? spoken;
  }

  /**
   * @returns PCM s16le mono at 24 kHz, destroyed with the error when the synthesis fails,
   *   and the request that makes it
   * @throws DomainError about the text, the voice or the model, or
   *   `queue_full`, `shutting_down`.
   */
  speak({ id, text, voice, speed }: SpokenText, tenant: string, terms: KeyTerms | undefined) {
    const body = {
      model: this.settings.realtime.speechModel,
      input: text,
      voice,
      speed,
      response_format: 'pcm',
    };
    const params = parseSpeech(body, this.catalog, this.settings.compat);
    const caller = { id, tenant, terms, priority: RequestPriority.REALTIME };
    const { maxBufferedBytes } = this.settings.speech;
    return startSpeech(this.inference, caller, params, maxBufferedBytes);
  }

  /**
   * What a session says in one utterance, for a model without live streams.
   * @throws DomainError, such as `queue_full`
   */
  #recognise(
    { id, tenant, terms }: Pick<InferenceCaller, 'id' | 'tenant' | 'terms'>,
    {
      model,
      wav,
      durationS,
      ...fields
    }: {
      readonly model: string;
      /** A whole file. */
      readonly wav: Buffer;
      readonly durationS: number;
      readonly language: string;
      readonly prompt: string;
      /** Its utterance is still being spoken: whatever else waits goes first. */
      readonly draft: boolean;
    },
  ) {
    const priority = fields.draft ? RequestPriority.BATCH : RequestPriority.REALTIME;
    const caller = { id, tenant, terms, priority };
    const audio = {
      size: wav.length,
      bytes: () => Promise.resolve(wav),
      chunks: () => Readable.from([wav]),
      dispose: () => Promise.resolve(),
    };
    const file = {
      kind: 'transcribe',
      audio,
      durationS,
      filename: 'utterance.wav',
    } as const;
    const request = this.inference.start(caller, {
      ...{ model, bytes: wav.length, audioDurationS: durationS },
      payload: { ...PLAIN_TRANSCRIPTION, ...fields, ...file },
    });
    const transcript = request.answer('transcript').then(({ reply }) => reply.transcript);
    return { transcript, cancel: () => request.cancel('client') };
  }
}
