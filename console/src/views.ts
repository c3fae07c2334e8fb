import { computed } from '@preact/signals';
import { session } from './api/session';
import type { IconName } from './ui/icons';

/** One of its scopes shows a view. */
export const VIEWS: readonly {
  name: IconName;
  title: string;
  scopes: readonly string[];
}[] = [
  { name: 'now', title: 'Now', scopes: ['admin', 'events'] },
  { name: 'requests', title: 'Requests', scopes: ['admin'] },
  { name: 'batches', title: 'Batches', scopes: ['inference'] },
  { name: 'models', title: 'Models', scopes: ['admin', 'inference'] },
  { name: 'workers', title: 'Workers', scopes: ['admin'] },
  { name: 'playground', title: 'Playground', scopes: ['inference'] },
  { name: 'tenants', title: 'Tenants and keys', scopes: ['admin'] },
  { name: 'settings', title: 'Settings', scopes: ['admin'] },
  { name: 'health', title: 'Health', scopes: ['admin'] },
];

export const visibleViews = computed(() =>
  VIEWS.filter(({ scopes }) =>
    scopes.some(scope => (session.value?.scopes as string[] | undefined)?.includes(scope)),
  ),
);
