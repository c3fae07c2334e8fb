import { DomainError } from '../../core/shared/domain-error.js';
import { type RequestView } from '../../core/dispatch/request-view.js';

/**
 * The one request an operator means: ids are unique within a tenant only (D-31). Undefined: there is none.
 * @throws DomainError `missing_required_parameter` when several tenants have a request of that id
 */
export function oneNamed(views: readonly RequestView[], tenant: string | undefined): RequestView | undefined {
  const meant = tenant === undefined ? views : views.filter(view => view.tenant === tenant);
  if (meant.length <= 1) return meant[0];
  const tenants = [...new Set(meant.map(view => view.tenant))].sort().join(', ');
  throw new DomainError(
    'missing_required_parameter',
    `Several tenants have a request of that id: ${tenants}. Name one with \`?tenant=\`.`,
    { param: 'tenant' },
  );
}
