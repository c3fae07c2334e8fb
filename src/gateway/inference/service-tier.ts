import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type ServiceTier } from '../../contracts/openai/field-types.js';
import { type PriorityLabel, RequestPriority } from '../../core/request/request-priority.js';

/**
 * REALTIME for `X-Priority: realtime` or `service_tier: priority` or `fast`, BATCH for
 * `X-Priority: batch` or `service_tier: flex`, else `usual`. The header is Switchyard's
 * own and more specific: it wins.
 * @param header or the class that the body names
 * @throws DomainError `invalid_value` for another header value.
 */
export function requestPriority(
  header: string | string[] | undefined,
  tier: ServiceTier,
  usual: PriorityLabel = 'batch',
): RequestPriority {
  switch (typeof header === 'string' ? header.trim().toLowerCase() : header) {
    case undefined:
      if (tier === 'priority' || tier === 'fast') return RequestPriority.REALTIME;
      return usual === 'realtime' && tier !== 'flex'
        ? RequestPriority.REALTIME
        : RequestPriority.BATCH;
    case 'realtime':
      return RequestPriority.REALTIME;
    case 'batch':
      return RequestPriority.BATCH;
    default:
      throw invalidField(
        'X-Priority',
        `\`X-Priority\` must be realtime or batch; got ${String(header)}.`,
      );
  }
}

/**
 * The tier that the answer reports: the one the request was served in, whichever
 * it asked for.
 */
export function usedTier(
  priority: RequestPriority,
  asked: ServiceTier,
): 'priority' | 'flex' | 'default' {
  if (priority === RequestPriority.REALTIME) return 'priority';
  return asked === 'flex' ? 'flex' : 'default';
}
