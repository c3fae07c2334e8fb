import { Injectable } from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';

/** What metrics and usage count about live sessions. */
export type ActivityEvent =
  | (SessionOwner & {
      readonly type: 'recognised';
      readonly model: string;
      readonly audioSeconds: number;
    })
  | {
      readonly type: SessionFact;
      readonly model: string;
      /** Of what takes time. */
      readonly ms: number;
    };

export type SessionFact =
  | 'first_text'
  | 'final_delay'
  | 'speech_started'
  | 'speech_stopped'
  | 'recovered'
  | 'failed';

interface SessionOwner {
  readonly tenant: string;
  /** Id of the key that usage is counted for; absent: none. */
  readonly keyId?: string | undefined;
}

/** Events about live sessions. */
@Injectable()
export class SessionActivity {
  readonly #events = new Subject<ActivityEvent>();
  readonly events$: Observable<ActivityEvent> = this.#events.asObservable();

  emit(event: ActivityEvent): void {
    this.#events.next(event);
  }
}
