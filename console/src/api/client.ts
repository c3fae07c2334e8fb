import type { paths } from './schema';

export type Path = keyof paths;
type Methods = 'get' | 'post' | 'patch' | 'delete';
type Json<R> = R extends { content: { 'application/json': infer T } } ? T : never;
type Responses<P extends Path, M extends Methods> =
  paths[P] extends Record<M, { responses: infer R }> ? R : never;

/**
 * What a route answers with when it did what it was asked for, as the
 * OpenAPI document says.
 */
export type Answer<P extends Path, M extends Methods = 'get'> =
  Responses<P, M> extends infer R ? Json<R[Extract<keyof R, 200 | 201>]> : never;

/** An answer other than 2xx, in the words of the server. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }

  /** The server does not have this route (yet, or any more). */
  get isMissing(): boolean {
    return this.code === 'unknown_url' || this.code === 'method_not_allowed';
  }

  get isForbidden(): boolean {
    return this.code === 'missing_scope';
  }
}

interface Options {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: BodyInit | object;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

let onSignedOut = (): void => undefined;
/** Called when the server no longer knows who is asking. */
export const whenSignedOut = (act: () => void): void => void (onSignedOut = act);

/** A request to our own server; the session travels in its cookie. @throws ApiError */
export async function request(
  path: string,
  { method = 'GET', body, headers, signal }: Options = {},
): Promise<Response> {
  const raw =
    body === undefined ||
    body instanceof FormData ||
    body instanceof Blob ||
    typeof body === 'string';
  const answer = await fetch(path, {
    method,
    credentials: 'same-origin',
    headers: { ...(!raw && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'unreachable', 'The server cannot be reached.');
  });
  if (answer.ok) return answer;
  throw await errorOf(answer);
}

async function errorOf(answer: Response): Promise<ApiError> {
  const { error } = ((await answer.json().catch(() => ({}))) ?? {}) as {
    error?: { code?: string; message?: string };
  };
  const code = error?.code ?? `http_${answer.status}`;
  if (answer.status === 401) onSignedOut();
  return new ApiError(
    answer.status,
    code,
    error?.message ?? `The server answered ${answer.status}.`,
  );
}

/** Fills `{id}` or `{name}` in. */
const filled = (path: string, id = ''): string => path.replace(/\{\w+\}/, encodeURIComponent(id));

export async function get<P extends Path>(
  path: P,
  { id, query = {}, signal }: { id?: string; query?: Query; signal?: AbortSignal } = {},
): Promise<Answer<P>> {
  return (
    await request(filled(path, id) + search(query), { ...(signal && { signal }) })
  ).json() as Promise<Answer<P>>;
}

export async function post<P extends Path>(
  path: P,
  { id, query = {}, body }: { id?: string; query?: Query; body?: object } = {},
): Promise<Answer<P, 'post'>> {
  const answer = await request(filled(path, id) + search(query), {
    method: 'POST',
    ...(body && { body }),
  });
  return answer.json() as Promise<Answer<P, 'post'>>;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** Without what is empty: `?a=1&b=2`. */
export function search(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const parts = given.map(
    ([name, value]) => `${name}=${encodeURIComponent(value as string | number)}`,
  );
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}
