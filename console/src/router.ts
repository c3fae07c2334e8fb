import { computed, signal } from '@preact/signals';
import { type Query, search } from './api/client';

const BASE = '/console';

const address = signal(location.pathname + location.search);
window.addEventListener('popstate', () => (address.value = location.pathname + location.search));

/** `/console/requests/req_1?model=a` → view, id, query. */
export const place = computed(() => {
  const url = new URL(address.value, location.origin);
  const [view = '', id] = url.pathname
    .slice(BASE.length)
    .split('/')
    .filter(Boolean)
    .map(decodeURIComponent);
  return { view: view || 'now', id, query: url.searchParams };
});

export function href(view: string, id?: string, query: Query = {}): string {
  const parts = [
    BASE,
    ...(view === 'now' ? [] : [view]),
    ...(id === undefined ? [] : [encodeURIComponent(id)]),
  ];
  return parts.join('/') + search(query);
}

export function go(path: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', path);
  address.value = path;
}

/** Links of our own are followed without loading the page again. */
document.addEventListener('click', event => {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const plain =
    event.button === 0 &&
    !event.metaKey &&
    !event.ctrlKey &&
    !event.shiftKey &&
    !event.defaultPrevented;
  if (!link || !plain || link.target || link.hasAttribute('download')) return;
  const url = new URL(link.href);
  if (
    url.origin !== location.origin ||
    !(url.pathname === BASE || url.pathname.startsWith(`${BASE}/`))
  )
    return;
  if (url.hash && url.pathname === location.pathname) return;
  event.preventDefault();
  go(url.pathname + url.search);
  document.getElementById('main')?.focus();
});
