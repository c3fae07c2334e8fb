import { type Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type Settlement } from '../../core/request/settlement.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { expectedSpeechS, toSpeechParams } from '../audio/speech-params.js';
import { SpeechSessions } from '../audio/speech-sessions.js';
import { SpeechStream } from '../audio/speech-stream.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';

export interface SpeechRequest {
  /** Unique among running requests; also what an operator sees and can cancel. */
  readonly id: string;
  readonly text: string;
  readonly voice: string;
  readonly speed: number;
  readonly tenant: string;
}

/** Speech on its way. */
export interface Speech {
  /** PCM s16le mono at 24 kHz; destroyed with the error when the synthesis fails. */
  readonly audio: Readable;
  /** Never rejects. */
  readonly settled: Promise<Settlement>;
  cancel(): void;
}

/** Speech output of live sessions: synthesis through the scheduler at REALTIME priority, counted as HTTP speech is. */
@Injectable()
export class Speaker {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly scheduler: SchedulerService,
    private readonly sessions: SpeechSessions,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws DomainError about the text, the voice or the model, or `queue_full`, `shutting_down`. */
  speak({ id, text, voice, speed, tenant }: SpeechRequest): Speech {
    const body = { model: this.settings.realtime.speechModel, input: text, voice, speed, response_format: 'pcm' };
    const order = toSpeechParams(body, this.catalog, this.settings.compat);
    const sink = new SpeechStream(this.settings.speech.maxBufferedBytes);
    const submitted = this.scheduler.submit({
      id,
      model: order.model.id,
      tenant,
      priority: RequestPriority.REALTIME,
      bytes: Buffer.byteLength(text),
      audioDurationS: expectedSpeechS(order.dto),
      payload: { kind: 'synthesize', text: order.dto.input, voice: order.voice, speed, format: 'pcm', sink },
    });
    this.sessions.opened(submitted, order.model.id, sink.started);
    const settled = submitted.settled.then(({ settlement }) => {
      if (settlement.status !== 'completed') sink.fail(settlement.error);
      return settlement;
    });
    return { audio: sink.audio, settled, cancel: () => void this.scheduler.cancel(submitted, 'client') };
  }
}
