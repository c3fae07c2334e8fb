import { Injectable } from '@nestjs/common';
import { Subject } from 'rxjs';
import { counterMetric, histogramMetric } from '../../../platform/metrics/metric-provider.js';

export type SessionFact =
  | 'first_text'
  | 'final_delay'
  | 'speech_started'
  | 'speech_stopped'
  | 'recovered'
  | 'failed';

/** Audio of a live session that was recognised. */
export interface RecognisedAudio {
  readonly model: string;
  readonly audioSeconds: number;
  readonly tenant: string;
  /** Id of the key that usage is counted for; absent: none. */
  readonly keyId?: string | undefined;
}

/** Counts what live sessions report, and passes on what is usage. */
@Injectable()
export class SessionActivity {
  readonly #firstTexts = histogramMetric('stt_ttfb_seconds');
  readonly #finalDelays = histogramMetric('stt_final_delay_seconds');
  readonly #voice = counterMetric('stt_vad_events_total');
  readonly #recoveries = counterMetric('stt_worker_recoveries_total');
  readonly #recognised = new Subject<RecognisedAudio>();
  readonly recognised$ = this.#recognised.asObservable();

  /** @param ms of what takes time */
  count(fact: SessionFact, model: string, ms: number): void {
    switch (fact) {
      case 'first_text':
        return this.#firstTexts.observe({ model }, ms / 1000);
      case 'final_delay':
        return this.#finalDelays.observe({ model }, ms / 1000);
      case 'speech_started':
      case 'speech_stopped':
        return this.#voice.inc({ model, event: fact });
      case 'recovered':
      case 'failed':
        return this.#recoveries.inc({ model, outcome: fact });
    }
  }

  recognised(audio: RecognisedAudio): void {
    this.#recognised.next(audio);
  }
}
