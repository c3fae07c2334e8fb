/** Kept with a job while an engine call has it, so that whoever takes it after a death knows what it was part of. */
export interface DeviceMark {
  /** Members of that engine call. */
  readonly size: number;
  /** Engine calls that had it alone so far, this one included. */
  readonly alone: number;
  /** Deaths of its workers before that call. */
  readonly deaths: number;
  /** The device died and its worker lives: nobody else counts this one. */
  readonly died?: boolean;
}

/** What is to be done with a job that was lost before. */
export type Retry =
  /** `mostTogether`: members of an engine call with it at most. `alone`: calls that had it alone and died. */
  { readonly kind: 'again'; readonly mostTogether: number; readonly alone: number } | { readonly kind: 'give_up' };

export interface LostJob {
  /** Workers that lost it. */
  readonly deaths: number;
  readonly mark: DeviceMark | undefined;
}

const FREELY = Infinity;

/**
 * One member of a group may be what kills the device, and nobody knows which: both halves try again, until it is alone. Alone twice
 * (`maxStalled` 1) it is the killer. Deaths in company cost a job nothing else; those before it reached the device count like
 * those alone.
 */
export function retryAfterDeath({ deaths, mark }: LostJob, maxStalled: number): Retry {
  if (mark === undefined)
    return deaths > maxStalled ? { kind: 'give_up' } : { kind: 'again', mostTogether: FREELY, alone: 0 };
  const diedThere = mark.died === true || deaths > mark.deaths;
  if (!diedThere) return { kind: 'again', mostTogether: mark.size, alone: Math.max(0, mark.alone - 1) };
  if (mark.size > 1) return { kind: 'again', mostTogether: Math.ceil(mark.size / 2), alone: mark.alone };
  return mark.alone > maxStalled ? { kind: 'give_up' } : { kind: 'again', mostTogether: 1, alone: mark.alone };
}
