/** How often a worker of the shared queue renews its announcement, and its locks at least. */
export const HEARTBEAT_MS = 1000;
export const ANNOUNCEMENT_TTL_MS = 3 * HEARTBEAT_MS;
/** Of the mark that a worker is drained: it outlives a long break of its connection. */
export const DRAINED_TTL_MS = 86_400_000;
