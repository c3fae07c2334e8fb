import { type ScheduledRequest } from '../request/scheduled-request.js';

/** A waiting request with its links in its lane and in its deadline list. */
export interface WaitingRequest<P> {
  readonly request: ScheduledRequest<P>;
  /** Neighbours in the lane; only ModelLane writes them. */
  ahead: WaitingRequest<P> | undefined;
  behind: WaitingRequest<P> | undefined;
  /** Neighbours by queue deadline; only DeadlineLine writes them. */
  sooner: WaitingRequest<P> | undefined;
  later: WaitingRequest<P> | undefined;
  /** It was reported as aged; only ModelLane writes it. */
  aged: boolean;
}
