/** Two levels; the lower value goes first. */
export const RequestPriority = { REALTIME: 0, BATCH: 1 } as const;
export type RequestPriority = (typeof RequestPriority)[keyof typeof RequestPriority];
