import { type ScheduledRequest } from '../request/scheduled-request.js';

/** A request that waits, with its links in both lines it stands in: its lane, and the line of those with the same patience. */
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
