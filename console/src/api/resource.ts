import { useEffect, useRef, useState } from 'preact/hooks';
import { type Answer, ApiError, get, type Path, type Query } from './client';

export interface Resource<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  /** True until the first answer, good or bad. */
  readonly loading: boolean;
  readonly reload: () => void;
}

/**
 * What `load` answers, asked again every `everyMs` while the page is visible, and at
 * once when `key` changes. An answer that failed leaves the last good one standing
 * beside its error.
 */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  key = '',
  everyMs = 0,
): Resource<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: ApiError }>();
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = (ms: number) => (timer = setTimeout(() => void ask(), ms));
    const ask = async (): Promise<void> => {
      if (document.hidden) return void again(everyMs || 1000);
      const result = await latest.current(abort.signal).then(
        data => ({ data, error: undefined }),
        (error: unknown) => ({ error: asApiError(error) }),
      );
      if (abort.signal.aborted) return;
      setState(before => ({ ...(before?.key === key ? before : {}), key, ...result }));
      // A route that is missing stays missing until the server is another one.
      if (everyMs > 0) again(result.error?.isMissing ? 30_000 : everyMs);
    };
    void ask();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key, everyMs, round]);
  const own = state?.key === key ? state : undefined;
  return {
    data: own?.data,
    error: own?.error,
    loading: own === undefined,
    reload: () => setRound(n => n + 1),
  };
}

interface Asked {
  readonly id?: string;
  readonly query?: Query;
  readonly everyMs?: number;
}

/** The answer of a route, asked again every `everyMs`. */
export const useGet = <P extends Path>(
  path: P,
  { everyMs, ...asked }: Asked = {},
): Resource<Answer<P>> =>
  useResource(signal => get(path, { ...asked, signal }), path + JSON.stringify(asked), everyMs);

const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError(0, 'console_error', String((error as Error)?.message ?? error));
