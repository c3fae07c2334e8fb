import { type Page } from '../../../core/jobs/job.ports.js';
import { DomainError } from '../../../core/errors/domain-error.js';

/**
 * OpenAI's list page; SDKs pass `last_id` as the next `after`. @throws DomainError for
 * an unknown `after`
 */
export function pageView<T, V extends { readonly id: string }>(
  page: Page<T> | undefined,
  view: (entry: T) => V,
) {
  if (!page)
    throw new DomainError(
      'invalid_value',
      '`after` must be the id of an entry of this list.',
      { param: 'after' },
    );
  const data = page.data.map(view);
  return {
    object: 'list',
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: page.hasMore,
  };
}
