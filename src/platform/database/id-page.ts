import { type Page, type PageRequest } from '../../core/jobs/job.ports.js';

/** Rows are read one beyond the limit, which tells whether more follow. */
export const pageOf = <Row, T>(rows: readonly Row[], limit: number, read: (row: Row) => T): Page<T> => ({
  data: rows.slice(0, limit).map(read),
  hasMore: rows.length > limit,
});

/** Ids grow with time: newest first is by descending id. */
export const idOrder = ({ order = 'desc' }: PageRequest): { direction: 'asc' | 'desc'; beyond: '>' | '<' } => ({
  direction: order,
  beyond: order === 'asc' ? '>' : '<',
});
