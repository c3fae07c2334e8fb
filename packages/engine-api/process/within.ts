/** @returns what `promise` resolves with; undefined: not within `limitMs` */
export async function within<T>(limitMs: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise<undefined>(
    resolve => (timer = setTimeout(() => resolve(undefined), limitMs)),
  );
  return Promise.race([promise, timeIsUp]).finally(() => clearTimeout(timer));
}
