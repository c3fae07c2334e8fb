import { invalidField } from '../../../contracts/schema/field-problems.js';
import { type Page } from '../../../core/jobs/job.ports.js';

/**
 * OpenAI's list page; SDKs pass `last_id` as the next `after`. @throws DomainError for
 * an unknown `after`
 */
export function pageView<T, V extends { readonly id: string }>(
  page: Page<T> | undefined,
  view: (entry: T) => V,
) {
  if (!page)
    throw invalidField('after', '`after` must be the id of an entry of this list.');
  const data = page.data.map(view);
  return {
    object: 'list',
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: page.hasMore,
  };
}
