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
      readonly type: 'first_text' | 'final_delay';
      readonly model: string;
      readonly ms: number;
    }
  | { readonly type: 'speech_started' | 'speech_stopped'; readonly model: string }
  | { readonly type: 'recovered' | 'failed'; readonly model: string };

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
