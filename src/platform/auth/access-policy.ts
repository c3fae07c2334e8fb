import { type KeyScope } from './principal.js';

/** `public`: nobody is asked; `any`: any valid key will do. */
export type Access = 'public' | 'any' | KeyScope;

/** Everything that answers without a key. A route that is not named here asks for one. */
export const PUBLIC_ROUTES: readonly string[] = [
  // They say where things are, and nothing else.
  '/',
  '/events',
  '/health',
  '/health/live',
  '/health/ready',
  // A page without data: it asks for the key itself.
  '/console/realtime',
  '/console/realtime/:file',
];

/** Pages that a person opens in a browser, which can ask for a password but send no `Bearer`. */
const PAGES = /^\/docs(-json|-yaml)?(\/|$)/;

const RULES: readonly (readonly [pattern: RegExp, access: Access])[] = [
  [/^\/v1\//, 'inference'],
  [PAGES, 'any'],
];

/**
 * What a route asks for, by its registered pattern: `/v1/requests/:id`. Deny by default: what no rule knows asks for
 * `admin`. `undefined` is a path without a route: its 404 is for those who hold a key.
 */
export function accessOf(route: string | undefined, { publicMetrics }: { readonly publicMetrics: boolean }): Access {
  if (route === undefined) return 'any';
  if (PUBLIC_ROUTES.includes(route) || (publicMetrics && route === '/metrics')) return 'public';
  return RULES.find(([pattern]) => pattern.test(route))?.[1] ?? 'admin';
}

export const isPage = (route: string | undefined): boolean => route !== undefined && PAGES.test(route);
