import { type Answer, get } from './client';
import { useResource } from './resource';

export type History = Answer<'/admin/v1/history'>;

export const useStatus = (wanted: boolean) =>
  useResource(signal => get('/admin/v1/status', { signal }), 'status', wanted ? 2000 : 0);

export const useHistory = () =>
  useResource(signal => get('/admin/v1/history', { query: { minutes: 60 }, signal }), 'history', 10_000);
