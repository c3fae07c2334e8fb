import { Injectable } from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';

/** What metrics count about live sessions. */
export type ActivityEvent =
  | { readonly type: 'first_text' | 'final_delay'; readonly model: string; readonly ms: number }
  | { readonly type: 'speech_started' | 'speech_stopped'; readonly model: string }
  | { readonly type: 'recovered' | 'failed'; readonly model: string };

/** Events about live sessions, for metrics. */
@Injectable()
export class SessionActivity {
  readonly #events = new Subject<ActivityEvent>();
  readonly events$: Observable<ActivityEvent> = this.#events.asObservable();

  emit(event: ActivityEvent): void {
    this.#events.next(event);
  }
}
