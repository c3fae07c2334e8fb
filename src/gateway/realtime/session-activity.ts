import { Injectable } from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';

/** What metrics want to know about live sessions. */
export type ActivityEvent =
  | { readonly type: 'first_text' | 'final_delay'; readonly model: string; readonly ms: number }
  | { readonly type: 'speech_started' | 'speech_stopped'; readonly model: string }
  | { readonly type: 'recovered' | 'failed'; readonly model: string };

/** Facts about live sessions, for whoever counts them. */
@Injectable()
export class SessionActivity {
  readonly #facts = new Subject<ActivityEvent>();
  readonly events$: Observable<ActivityEvent> = this.#facts.asObservable();

  emit(fact: ActivityEvent): void {
    this.#facts.next(fact);
  }
}
