import { request } from './client';
import { useResource } from './resource';

/** `GET /admin/v1/status`. */
export interface Status {
  readonly gateway: { id: string; version: string; started_at: number; uptime_s: number; draining: boolean };
  readonly bottleneck: { kind: string; model: string | null; text: string } | null;
}

/** One point is ten seconds. */
interface HistoryCounts {
  readonly arrived: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly refused: number;
  readonly waiting: number;
  readonly in_flight: number;
  readonly oldest_wait_ms: number | null;
  readonly wait_p50_ms: number | null;
  readonly wait_p95_ms: number | null;
}

/** `GET /admin/v1/history`. */
export interface History {
  readonly step_s: number;
  readonly points: readonly { readonly at: number; readonly models: Readonly<Record<string, HistoryCounts>> }[];
}

const read = async <T>(path: string, signal: AbortSignal): Promise<T> =>
  (await request(path, { signal })).json() as Promise<T>;

export const useStatus = (wanted: boolean) =>
  useResource(signal => read<Status>('/admin/v1/status', signal), 'status', wanted ? 2000 : 0);

export const useHistory = () =>
  useResource(signal => read<History>('/admin/v1/history?minutes=60', signal), 'history', 10_000);
