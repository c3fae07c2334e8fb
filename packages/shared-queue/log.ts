/** Where a part of the queue says what it cannot report otherwise: a logger of pino. */
export type QueueLog = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>
>;
