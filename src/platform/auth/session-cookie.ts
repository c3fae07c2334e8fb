import { type IncomingHttpHeaders } from 'node:http';
import { TOKEN_PREFIX } from './short-lived-tokens.js';

const NAME = 'switchyard_session';

/** How long a sign-in at the console lasts; a withdrawn key ends it at once. */
export const SESSION_LIFE_S = 12 * 3600;

/**
 * The session of the console: a short-lived token, signed and never a key, so guessing
 * keys by cookie is not counted and not possible.
 */
export function sessionToken({ cookie = '' }: IncomingHttpHeaders): string | undefined {
  const pair = cookie.split(/; */).find(each => each.startsWith(`${NAME}=`));
  const value = pair?.slice(NAME.length + 1);
  return value?.startsWith(TOKEN_PREFIX) ? value : undefined;
}

/**
 * `Set-Cookie` that signs in. Scripts never see it and no other site's
 * request carries it.
 */
export const sessionCookie = (token: string, secure: boolean): string =>
  setCookie(token, SESSION_LIFE_S, secure);

/** `Set-Cookie` that signs out. */
export const noSessionCookie = (secure: boolean): string => setCookie('', 0, secure);

const setCookie = (value: string, lifeS: number, secure: boolean): string =>
  `${NAME}=${value}; Path=/; Max-Age=${lifeS}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
